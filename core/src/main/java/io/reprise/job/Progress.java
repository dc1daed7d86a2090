// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import org.jspecify.annotations.Nullable;

/**
 * The latest progress that a running handler reported. Immutable.
 *
 * @param percent 0 to 100
 * @param message any text, cut at 500 characters; null for none
 * @since 0.1.0
 */
public record Progress(int percent, @Nullable String message) {

    static final int MAX_MESSAGE = 500;

    /**
     * Checks the percentage and cuts the message.
     *
     * @throws IllegalArgumentException if {@code percent} is outside its bounds
     */
    public Progress {
        if (percent < 0 || percent > 100) {
            throw new IllegalArgumentException("progress percent must be 0 to 100, not " + percent);
        }
        if (message != null && message.length() > MAX_MESSAGE) {
            // A cut inside a surrogate pair would leave half a character, and databases refuse that.
            boolean splitsPair = Character.isHighSurrogate(message.charAt(MAX_MESSAGE - 1));
            message = message.substring(0, splitsPair ? MAX_MESSAGE - 1 : MAX_MESSAGE);
        }
    }
}
