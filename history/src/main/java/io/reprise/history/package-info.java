// SPDX-License-Identifier: Apache-2.0
/**
 * Records what happens to jobs, and checks that nothing forbidden happens. It serves simulated fleets and real
 * processes alike. A {@link io.reprise.history.RecordingStore} reports every call to a
 * {@link io.reprise.history.HistoryLog}, and a {@link io.reprise.history.HistoryChecker} reads the
 * events in order. It never assumes the effect of a failed call.
 */
@NullMarked
package io.reprise.history;

import org.jspecify.annotations.NullMarked;
