// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.RepriseException;

/**
 * The database failed or refused. {@link #isTransient} tells the engine whether trying again can help; unless told
 * otherwise it assumes so, because a worker must outlive its database's bad days.
 */
public class StoreException extends RepriseException {

    private static final long serialVersionUID = 1L;

    private final boolean isTransient;

    public StoreException(String message, Throwable cause) {
        this(message, cause, true);
    }

    public StoreException(String message, Throwable cause, boolean isTransient) {
        super(message, cause);
        this.isTransient = isTransient;
    }

    public boolean isTransient() {
        return isTransient;
    }
}
