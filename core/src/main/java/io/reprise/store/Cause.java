// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.Job;
import org.jspecify.annotations.Nullable;

/**
 * Whose runs are counted together: those of one type, on one resource, made necessary by one error.
 *
 * @param error fingerprint of the failure that the run followed; empty for first runs
 * @param errorType class name of that failure, for people; not part of what tells causes apart in a store
 */
public record Cause(String type, @Nullable String resource, String error, String errorType) {

    private static final String OTHER = "other";

    /** Where everything goes that would be one too many. */
    public static final Cause REST = new Cause(OTHER, null, OTHER, OTHER);

    /** First runs of a type on a resource. */
    public static Cause first(String type, @Nullable String resource) {
        return new Cause(type, resource, "", "");
    }

    /** Runs after any error that is not counted by itself. */
    public static Cause otherError(String type, @Nullable String resource) {
        return new Cause(type, resource, OTHER, OTHER);
    }

    /**
     * The resource by which runs of a job are counted. Those of a queue such as {@code acme/mail}, which has an owner, are counted
     * apart from others' even if they name no resource: nobody's failures must speak for another's jobs.
     */
    public static @Nullable String resource(Job job) {
        String named = job.spec().resource();
        int slash = job.queue().indexOf('/');
        return named != null || slash < 0 ? named : job.queue().substring(0, slash + 1) + "-";
    }

    public boolean isFirst() {
        return error.isEmpty();
    }
}
