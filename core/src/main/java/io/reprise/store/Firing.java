// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.JobSpec;
import java.time.Instant;
import java.util.List;

/**
 * A schedule that fires or skips a firing.
 *
 * @param schedule name of the schedule
 * @param dueAt the time at which the schedule must still stand
 * @param nextAt the next firing
 * @param jobs jobs to enqueue; empty if the firing is skipped
 * @since 0.1.0
 */
public record Firing(String schedule, Instant dueAt, Instant nextAt, List<JobSpec> jobs) {
    /** Copies the list. */
    public Firing {
        jobs = List.copyOf(jobs);
    }
}
