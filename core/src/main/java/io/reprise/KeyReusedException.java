// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/** An idempotency key was used for another request already. Nothing was stored. */
public final class KeyReusedException extends RepriseException {

    private static final long serialVersionUID = 1L;

    private final transient JobId job;

    /** A key that leads to a job which another request enqueued. */
    public KeyReusedException(String key, JobId job) {
        super("The idempotency key '" + key + "' belongs to job " + job + ", which another request enqueued");
        this.job = job;
    }

    /** The job that the other request led to. */
    public JobId job() {
        return job;
    }
}
