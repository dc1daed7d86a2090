// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.reprise.failure.NonRetryable;
import io.reprise.job.RepriseException;

/** Thrown for a call that the guard refuses. A retry does not help. */
public final class RefusedTargetException extends RepriseException implements NonRetryable {

    private static final long serialVersionUID = 1L;

    RefusedTargetException(String message) {
        super(message);
    }

    /** The stack trace of this program says nothing about the call. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
