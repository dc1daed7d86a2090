// SPDX-License-Identifier: Apache-2.0
package io.reprise.batch;

import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The place of a job in a batch.
 *
 * @param batch name of the batch
 * @param place number of the job among the children of a join, from 0; {@link #NO_PLACE} in any other batch
 * @since 0.1.0
 */
public record Membership(String batch, int place) {

    /** The place of a member whose result nobody collects. */
    public static final int NO_PLACE = -1;

    /** The greatest number of children of a join. */
    public static final int MAX_CHILDREN = 10_000;

    /** The greatest size of the payloads of all children of a join, in bytes of UTF-8. */
    public static final int MAX_CHILDREN_BYTES = 8 * 1024 * 1024;

    /** Begins the name of a batch that belongs to a join. No name that a caller chooses can begin so. */
    private static final char JOIN = '#';

    private static final int MAX_LENGTH = 240;

    /**
     * Checks the name.
     *
     * @throws IllegalArgumentException if the name is neither one of {@link JobSpec#requireName} nor one of {@link #join}
     */
    public Membership {
        if (!isJoin(batch)) {
            JobSpec.requireName("batch", batch);
        } else if (batch.length() > MAX_LENGTH || batch.indexOf(0) >= 0) {
            throw new IllegalArgumentException("The name of a join's batch has " + batch.length() + " characters");
        }
        if (place < NO_PLACE) {
            throw new IllegalArgumentException("place must be " + NO_PLACE + " or more, not " + place);
        }
    }

    /**
     * Returns the membership of a job; null if it is in no batch.
     *
     * @throws IllegalArgumentException if its text cannot be read
     */
    public static @Nullable Membership in(JobSpec spec) {
        String text = spec.batch();
        return text == null ? null : parse(text);
    }

    /** Creates a membership in a batch of a caller. */
    public static Membership of(String batch) {
        return new Membership(batch, NO_PLACE);
    }

    /**
     * Returns the name of the batch of a join. The token makes it unique: a join that is forgotten and done again has
     * another batch.
     */
    public static String join(JobId parent, String step, long token) {
        return JOIN + parent.toString() + "/" + token + "/" + step;
    }

    /** Returns whether this is the name of the batch of a join. */
    public static boolean isJoin(String batch) {
        return !batch.isEmpty() && batch.charAt(0) == JOIN;
    }

    /** Returns whether this job is a child of a join. */
    public boolean isChild() {
        return place > NO_PLACE;
    }

    /**
     * Makes jobs members of this batch.
     *
     * @param sibling whether a running member adds them
     * @throws IllegalArgumentException if a job has a unique key under another rule than KEEP
     */
    public List<JobSpec> members(List<JobSpec> specs, boolean sibling) {
        List<JobSpec> members = new ArrayList<>();
        for (JobSpec spec : specs) {
            if (spec.key() != null && spec.keyRule() != KeyRule.KEEP) {
                throw new IllegalArgumentException("A member of batch '" + batch
                        + "' may hold a unique key under KEEP only, not " + spec.keyRule()
                        + ": the job that it replaced would be counted for it");
            }
            members.add(spec.toBuilder().batch(toText()).sibling(sibling).build());
        }
        return members;
    }

    /**
     * Makes jobs the children of a join, each with its place.
     *
     * @throws IllegalArgumentException if there are too many, or one has a key
     */
    public static List<JobSpec> children(JobId parent, String step, long token, List<JobSpec> specs) {
        if (specs.size() > MAX_CHILDREN) {
            throw new IllegalArgumentException("Join " + step + " of job " + parent + " has " + specs.size()
                    + " jobs; at most " + MAX_CHILDREN + " can be joined. Join them in several steps");
        }
        String batch = join(parent, step, token);
        List<JobSpec> children = new ArrayList<>();
        long bytes = 0;
        for (JobSpec spec : specs) {
            if (spec.key() != null || spec.idempotencyKey() != null) {
                throw new IllegalArgumentException("Job " + children.size() + " of join " + step + " of job " + parent
                        + " has a key. A key could lead to a job that is there, and that would not wake this one");
            }
            bytes += spec.payload().getBytes(StandardCharsets.UTF_8).length;
            children.add(spec.toBuilder()
                    .batch(new Membership(batch, children.size()).toText())
                    .build());
        }
        if (bytes > MAX_CHILDREN_BYTES) {
            throw new IllegalArgumentException("The payloads of join " + step + " of job " + parent + " have " + bytes
                    + " bytes; at most " + MAX_CHILDREN_BYTES + " are stored at once. Keep large data elsewhere");
        }
        return children;
    }

    /** Returns this as text, for stores. */
    public String toText() {
        return isChild() ? batch + JOIN + place : batch;
    }

    /**
     * Reads the text of {@link #toText}.
     *
     * @throws IllegalArgumentException if it is not such a text
     */
    public static Membership parse(String text) {
        int cut = text.lastIndexOf(JOIN);
        return cut > 0
                ? new Membership(text.substring(0, cut), Integer.parseInt(text.substring(cut + 1)))
                : new Membership(text, NO_PLACE);
    }
}
