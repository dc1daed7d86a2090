// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/** A run that lost its lease tried to change its job. */
public class StaleLeaseException extends RepriseException {

    private static final long serialVersionUID = 1L;

    public StaleLeaseException(String message) {
        super(message);
    }

    public StaleLeaseException(JobId job, long token) {
        super("Job " + job + " is no longer held under token " + token
                + ": its lease expired and another run may be under way. Roll back.");
    }
}
