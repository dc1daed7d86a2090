// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import org.jspecify.annotations.Nullable;

/**
 * The group and type of a job, which limits look at, and its id, for groups that keep their order. Immutable.
 *
 * @param group name of its group; null or empty if it has none
 * @param type name of its type
 * @param job id of the job; 0 for a job that never started
 * @param due when it was due, by the store's clock, in microseconds; 0 if that does not matter
 * @since 0.1.0
 */
public record FlowKey(@Nullable String group, String type, long job, long due) {

    /** Creates the key of a job whose due time does not matter. */
    public FlowKey(@Nullable String group, String type, long job) {
        this(group, type, job, 0);
    }

    /** Creates the key of a job that never started. */
    public FlowKey(@Nullable String group, String type) {
        this(group, type, 0, 0);
    }
}
