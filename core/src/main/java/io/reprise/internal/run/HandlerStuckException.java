// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.job.JobId;
import io.reprise.job.RepriseException;
import java.time.Duration;

/**
 * The failure of a handler that ignored its interrupt. The {@link Runner} creates it when it gives up on the handler;
 * nothing throws it. The stack trace shows where the handler was stuck.
 */
final class HandlerStuckException extends RepriseException {

    private static final long serialVersionUID = 1L;

    HandlerStuckException(JobId job, Duration grace) {
        super("Handler of job " + job + " did not end within " + grace
                + " of being interrupted. It still occupies a thread: let it react to interrupts.");
    }
}
