// SPDX-License-Identifier: Apache-2.0
/**
 * The engine. Not exported.
 *
 * <p>Read it in the order of a job's life. {@link io.reprise.internal.Fetcher} claims,
 * {@link io.reprise.internal.Runner} runs the handler, {@link io.reprise.internal.Decider} decides,
 * {@link io.reprise.internal.Committer} settles: success, retry, parked or dead letter.
 * {@link io.reprise.internal.LeaseKeeper} renews the leases. On the elected worker
 * {@link io.reprise.internal.Reclaimer} takes over lost leases, and {@link io.reprise.internal.Warden} unparks jobs.
 *
 * <p>All but the decider work as a {@link io.reprise.internal.Role}: a step does one bounded piece of work and says
 * when it wants the next. A {@link io.reprise.internal.Driver} decides when that is: threads in production, virtual
 * time in tests. No role reads a clock, sleeps or draws random numbers except through the objects that it was given.
 */
@NullMarked
package io.reprise.internal;

import org.jspecify.annotations.NullMarked;
