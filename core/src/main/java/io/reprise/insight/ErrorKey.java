// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.job.Job;
import org.jspecify.annotations.Nullable;

/**
 * The key under which runs are counted together: one type, one resource, and the error that the run followed.
 *
 * @param type the job type
 * @param resource the resource, as {@link #resource(Job)} gives it; null if there is none
 * @param error fingerprint of the failure that the run followed; empty for first runs
 * @param errorType class name of that failure, for people. A store does not use it to tell causes apart
 * @since 0.1.0
 */
public record ErrorKey(String type, @Nullable String resource, String error, String errorType) {

    private static final String OTHER = "other";

    /** The cause under which further causes are counted when there are too many. */
    public static final ErrorKey REST = new ErrorKey(OTHER, null, OTHER, OTHER);

    /** Returns the cause of first runs of a type on a resource. */
    public static ErrorKey first(String type, @Nullable String resource) {
        return new ErrorKey(type, resource, "", "");
    }

    /** Returns the cause of runs after any error that is not counted by itself. */
    public static ErrorKey otherError(String type, @Nullable String resource) {
        return new ErrorKey(type, resource, OTHER, OTHER);
    }

    /**
     * Returns the resource under which runs of a job are counted. A queue such as {@code acme/mail} has an owner. Its
     * jobs are counted apart even if they name no resource, so that failures of one owner do not affect predictions for
     * another.
     *
     * @return the resource of the job, or a name made from the owner of its queue; null if there is neither
     */
    public static @Nullable String resource(Job job) {
        String named = job.spec().resource();
        int slash = job.queue().indexOf('/');
        return named != null || slash < 0 ? named : job.queue().substring(0, slash + 1) + "-";
    }

    /** Returns whether this is the cause of first runs. */
    public boolean isFirst() {
        return error.isEmpty();
    }
}
