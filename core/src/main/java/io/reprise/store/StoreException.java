// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.RepriseException;

/**
 * The database failed or refused a call. The call may or may not have had its effect.
 *
 * @since 0.1.0
 */
public class StoreException extends RepriseException {

    private static final long serialVersionUID = 1L;

    private final boolean isTransient;

    /**
     * Creates a transient exception: trying again can help. This is the right choice in doubt, because a worker must
     * survive a bad day of its database.
     *
     * @param message what failed and what to do
     */
    public StoreException(String message, Throwable cause) {
        this(message, cause, true);
    }

    /**
     * Creates an exception.
     *
     * @param message what failed and what to do
     * @param isTransient whether trying again can help
     */
    public StoreException(String message, Throwable cause, boolean isTransient) {
        super(message, cause);
        this.isTransient = isTransient;
    }

    /** Returns whether trying again can help. The engine repeats a call only if this is true. */
    public boolean isTransient() {
        return isTransient;
    }
}
