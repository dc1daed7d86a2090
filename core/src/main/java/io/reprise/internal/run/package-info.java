// SPDX-License-Identifier: Apache-2.0
/**
 * Claims jobs and runs handlers. {@link io.reprise.internal.run.Fetcher} claims, {@link
 * io.reprise.internal.run.Runner} runs the handler, {@link io.reprise.internal.run.LeaseKeeper} renews the leases.
 * {@link io.reprise.internal.run.RemoteRuns} does the same for remote workers.
 */
@NullMarked
package io.reprise.internal.run;

import org.jspecify.annotations.NullMarked;
