// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobSpec;
import java.time.Instant;
import java.util.List;

/**
 * A schedule that fires, or lets a firing pass.
 *
 * @param dueAt where it must still stand
 * @param nextAt when it fires next
 * @param jobs what to enqueue; none if the firing is skipped
 */
public record Firing(String schedule, Instant dueAt, Instant nextAt, List<JobSpec> jobs) {
    public Firing {
        jobs = List.copyOf(jobs);
    }
}
