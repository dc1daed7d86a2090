// SPDX-License-Identifier: Apache-2.0
/**
 * The engine. Not exported. Read it in the order of a job's flow: {@link io.reprise.internal.Fetcher} claims,
 * {@link io.reprise.internal.Runner} runs, {@link io.reprise.internal.Committer} settles, while
 * {@link io.reprise.internal.LeaseKeeper} holds on to the leases and {@link io.reprise.internal.Sweeper} looks after what
 * others left behind. Each is a {@link io.reprise.internal.Role}: a step does one bounded piece of work and says when it
 * wants the next. A {@link io.reprise.internal.Driver} decides when that is: threads in production, virtual time in
 * tests. No role reads a clock, sleeps or draws random numbers but through what it was given.
 */
@NullMarked
package io.reprise.internal;

import org.jspecify.annotations.NullMarked;
