// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import java.time.Duration;

/** Checks of settings. Each throws {@link IllegalArgumentException} with the name of the field and its bounds. */
final class Checks {

    private Checks() {}

    static void inRange(String field, double value, double min, double max) {
        if (!(value >= min && value <= max)) {
            throw new IllegalArgumentException(field + " must be " + min + " to " + max + ", not " + value);
        }
    }

    static void inRange(String field, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(field + " must be " + min + " to " + max + ", not " + value);
        }
    }

    static void inRange(String field, Duration value, Duration min, Duration max) {
        if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
            throw new IllegalArgumentException(field + " must be " + min + " to " + max + ", not " + value);
        }
    }
}
