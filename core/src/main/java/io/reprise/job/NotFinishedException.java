// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import io.reprise.Reprise;
import java.time.Duration;

/**
 * Thrown when a job has not ended within the time limit of {@link Reprise#await}. The job is not affected. Wait again,
 * or look the job up later.
 *
 * @since 0.1.0
 */
public class NotFinishedException extends RepriseException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception with a message that names all three.
     *
     * @param id the job
     * @param state its state when the wait ended
     * @param waited the time limit
     */
    public NotFinishedException(JobId id, JobState state, Duration waited) {
        super("Job " + id + " is still " + state + " after waiting " + waited
                + "; it goes on. Await again or look it up.");
    }
}
