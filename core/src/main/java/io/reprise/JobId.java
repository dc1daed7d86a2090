// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.io.Serializable;

/** Identity of a job, assigned by the store and never used again. Later jobs have greater ids, roughly. */
public record JobId(long value) implements Comparable<JobId>, Serializable {

    public JobId {
        if (value < 1) {
            throw new IllegalArgumentException("A job id is a positive number, not " + value);
        }
    }

    /**
     * Reads what {@link #toString} prints.
     *
     * @throws IllegalArgumentException if the text is anything else
     */
    public static JobId parse(String text) {
        try {
            return new JobId(Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "'" + JobSpec.shorten(text) + "' is not a job id: expected a positive number", e);
        }
    }

    @Override
    public int compareTo(JobId other) {
        return Long.compare(value, other.value);
    }

    @Override
    public String toString() {
        return Long.toString(value);
    }
}
