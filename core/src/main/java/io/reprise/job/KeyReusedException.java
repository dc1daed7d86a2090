// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

/**
 * Thrown when an idempotency key was used for another request already: the proof differs. Nothing was stored. Use a new
 * key for a new request.
 *
 * @since 0.1.0
 */
public final class KeyReusedException extends RepriseException {

    private static final long serialVersionUID = 1L;

    private final JobId job;

    /**
     * Creates the exception with a message that names both.
     *
     * @param key the idempotency key
     * @param job the job that the other request enqueued
     */
    public KeyReusedException(String key, JobId job) {
        super("The idempotency key '" + key + "' belongs to job " + job + ", which another request enqueued");
        this.job = job;
    }

    /** Returns the id of the job that the other request enqueued. */
    public JobId job() {
        return job;
    }
}
