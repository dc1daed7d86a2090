// SPDX-License-Identifier: Apache-2.0
/**
 * The types that a user of Reprise works with. Start at {@link io.reprise.Reprise}: it enqueues jobs, runs them with
 * registered handlers, and offers every operation on them. {@link io.reprise.JobType} names a kind of work,
 * {@link io.reprise.JobRequest} asks for one job of it, and {@link io.reprise.job.Job} shows the stored job.
 */
@NullMarked
package io.reprise;

import org.jspecify.annotations.NullMarked;
