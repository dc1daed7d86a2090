// SPDX-License-Identifier: Apache-2.0
/**
 * What a user of Reprise types. Start at {@link io.reprise.Reprise}: it enqueues jobs, runs them with registered
 * handlers and offers every operation on them. {@link io.reprise.JobType} names a kind of work,
 * {@link io.reprise.JobRequest} asks for one piece of it, {@link io.reprise.Job} shows what became of it.
 */
@NullMarked
package io.reprise;

import org.jspecify.annotations.NullMarked;
