// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.time.Duration;

/** A job had not reached a terminal state when the wait for it ended. It goes on regardless. */
public class NotFinishedException extends RepriseException {

    private static final long serialVersionUID = 1L;

    public NotFinishedException(JobId id, JobState state, Duration waited) {
        super("Job " + id + " is still " + state + " after waiting " + waited
                + "; it goes on. Await again or look it up.");
    }
}
