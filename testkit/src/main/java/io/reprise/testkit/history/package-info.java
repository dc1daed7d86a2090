// SPDX-License-Identifier: Apache-2.0
/**
 * What happened to jobs, written down as it happens, and the checker that says what should not have. The same for a
 * simulated fleet and for real processes: a {@link io.reprise.testkit.history.RecordingStore} tells a
 * {@link io.reprise.testkit.history.HistoryLog} of every call, and a {@link io.reprise.testkit.history.HistoryChecker}
 * reads the events in order. It never takes for certain what a call that failed may or may not have done.
 */
@NullMarked
package io.reprise.testkit.history;

import org.jspecify.annotations.NullMarked;
