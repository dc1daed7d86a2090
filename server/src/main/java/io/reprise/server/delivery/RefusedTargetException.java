// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.RepriseException;
import io.reprise.retry.NonRetryable;

/** A call that the guard does not let out. Trying again would not help. */
public final class RefusedTargetException extends RepriseException implements NonRetryable {

    private static final long serialVersionUID = 1L;

    RefusedTargetException(String message) {
        super(message);
    }

    /** Where in this program it was noticed says nothing about the call. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
