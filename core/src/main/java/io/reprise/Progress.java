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
            // Half a surrogate pair is no text, and databases refuse it.
            boolean splitsPair = Character.isHighSurrogate(message.charAt(MAX_MESSAGE - 1));
            message = message.substring(0, splitsPair ? MAX_MESSAGE - 1 : MAX_MESSAGE);
        }
    }
}
