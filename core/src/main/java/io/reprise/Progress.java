// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import org.jspecify.annotations.Nullable;

/** What a running handler last reported. The message is cut at 500 characters. */
public record Progress(int percent, @Nullable String message) {

    static final int MAX_MESSAGE = 500;

    public Progress {
        if (percent < 0 || percent > 100) {
            throw new IllegalArgumentException("progress percent must be 0 to 100, not " + percent);
        }
        if (message != null && message.length() > MAX_MESSAGE) {
            message = message.substring(0, MAX_MESSAGE);
        }
    }
}
