// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobId;
import org.jspecify.annotations.Nullable;

/**
 * Answer to a revival.
 *
 * @param id the job that is pending now; null if refused
 */
public record Revived(Result result, @Nullable JobId id) {

    public enum Result {
        DONE,
        /** No such job. */
        MISSING,
        /** It is running, succeeded or cancelled: nothing to put back. */
        NOT_WAITING,
        /** Another live job holds its unique key. */
        KEY_TAKEN
    }
}
