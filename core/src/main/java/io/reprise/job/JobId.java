// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

import java.io.Serializable;

/**
 * Identity of a job. The store assigns it and never uses it again. Later jobs usually have greater ids. Immutable.
 *
 * @param value the number, at least 1
 * @since 0.1.0
 */
public record JobId(long value) implements Comparable<JobId>, Serializable {

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException if {@code value} is less than 1
     */
    public JobId {
        if (value < 1) {
            throw new IllegalArgumentException("A job id is a positive number, not " + value);
        }
    }

    /**
     * Reads an id from the text that {@link #toString} returns.
     *
     * @throws IllegalArgumentException if the text is not a positive number
     */
    public static JobId parse(String text) {
        try {
            return new JobId(Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "'" + JobSpec.shorten(text) + "' is not a job id: expected a positive number", e);
        }
    }

    /** Compares the numbers. */
    @Override
    public int compareTo(JobId other) {
        return Long.compare(value, other.value);
    }

    /** Returns the number in decimal digits. */
    @Override
    public String toString() {
        return Long.toString(value);
    }
}
