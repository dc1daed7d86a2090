// SPDX-License-Identifier: Apache-2.0
package io.reprise.remote;

import io.reprise.job.JobId;
import io.reprise.job.RepriseException;

/**
 * Thrown when a run that lost its lease tries to change its job. Another run may be in progress: roll back, and stop.
 *
 * @since 0.1.0
 */
public class StaleLeaseException extends RepriseException {

    private static final long serialVersionUID = 1L;

    /** Creates the exception. */
    public StaleLeaseException(String message) {
        super(message);
    }

    /**
     * Creates the exception with a message that names both.
     *
     * @param job the job
     * @param token fencing token of the lost lease
     */
    public StaleLeaseException(JobId job, long token) {
        super("Job " + job + " is no longer held under token " + token
                + ": its lease expired and another run may be under way. Roll back.");
    }
}
