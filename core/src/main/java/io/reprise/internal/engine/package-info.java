// SPDX-License-Identifier: Apache-2.0
/**
 * The engine. Not exported.
 *
 * <p>Read it in the order of a job's life. {@link io.reprise.internal.run.Fetcher} claims,
 * {@link io.reprise.internal.run.Runner} runs the handler, {@link io.reprise.internal.settle.OutcomeDecider} decides,
 * {@link io.reprise.internal.settle.Committer} settles: success, retry, parked or dead letter.
 * {@link io.reprise.internal.run.LeaseKeeper} renews the leases. On the elected worker
 * {@link io.reprise.internal.upkeep.Reclaimer} takes over lost leases, and {@link io.reprise.internal.control.ControlSync} unparks jobs.
 *
 * <p>All but the decider work as a {@link io.reprise.internal.engine.Role}: a step does one bounded piece of work and says
 * when it wants the next. A {@link io.reprise.internal.engine.Driver} decides when that is: threads in production, virtual
 * time in tests. No role reads a clock, sleeps or draws random numbers except through the objects that it was given.
 */
@NullMarked
package io.reprise.internal.engine;

import org.jspecify.annotations.NullMarked;
