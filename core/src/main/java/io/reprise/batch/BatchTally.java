// SPDX-License-Identifier: Apache-2.0
package io.reprise.batch;

import io.reprise.job.JobId;
import io.reprise.job.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Outcomes of members, added up by batch, for stores: one transaction writes one sum for each batch. Not thread-safe.
 *
 * @since 0.1.0
 */
public final class BatchTally {

    /**
     * The sums that a transaction adds to a batch.
     *
     * @param succeeded members that succeeded
     * @param dead members that became dead letters, less those that were put back
     * @param cancelled members that were cancelled
     */
    public record Sum(long succeeded, long dead, long cancelled) {
        private Sum plus(JobState state, int n) {
            return switch (state) {
                case SUCCEEDED -> new Sum(succeeded + n, dead, cancelled);
                case FAILED -> new Sum(succeeded, dead + n, cancelled);
                case CANCELLED -> new Sum(succeeded, dead, cancelled + n);
                default -> throw new IllegalArgumentException(state + " is not the end of a job");
            };
        }
    }

    /**
     * A child of a join that has ended.
     *
     * @param batch name of the batch
     * @param member the child
     */
    public record Child(String batch, BatchMember member) {}

    private final SortedMap<String, Sum> sums = new TreeMap<>();
    private final List<Child> children = new ArrayList<>();

    /** Creates an empty tally. */
    public BatchTally() {}

    /**
     * Counts a job that has ended, if it is in a batch.
     *
     * @param result JSON of its result, as the codec stored it; null if it has none
     */
    public void ended(@Nullable Membership member, JobId job, JobState state, @Nullable String result) {
        if (member != null) {
            add(member.batch(), state, 1);
            if (member.isChild()) {
                children.add(new Child(member.batch(), new BatchMember(member.place(), job, state, result)));
            }
        }
    }

    /** Counts a dead letter that was put back, if it is in a batch. */
    public void revived(@Nullable Membership member) {
        if (member != null) {
            add(member.batch(), JobState.FAILED, -1);
        }
    }

    private void add(String batch, JobState state, int n) {
        sums.put(batch, sums.getOrDefault(batch, new Sum(0, 0, 0)).plus(state, n));
    }

    /** Returns the sums by the names of batches, in their order. */
    public SortedMap<String, Sum> sums() {
        return sums;
    }

    /** Returns the children of joins, in the order in which they were counted. */
    public List<Child> children() {
        return children;
    }

    /** Returns whether no job of a batch was counted. */
    public boolean isEmpty() {
        return sums.isEmpty();
    }
}
