// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.job.JobSpec;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The trace in which a job was enqueued, as the header {@code traceparent} of W3C Trace Context. It is kept as a tag of
 * the job, so that jobs can be found by their trace. Immutable.
 *
 * @param text version, trace id, span id and flags, such as
 *     {@code 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}
 * @since 0.1.0
 */
public record TraceParent(String text) {

    private static final String PREFIX = "trace:";

    /** Version 00 only; an id of zeros means none. */
    private static final Pattern FORM = Pattern.compile("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");

    /**
     * Checks the form.
     *
     * @throws IllegalArgumentException if {@code text} is not a {@code traceparent} of version 00
     */
    public TraceParent {
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException("a traceparent has the form 00-<trace id>-<span id>-<flags>");
        }
    }

    /** Reads a header; empty if it is missing or not of version 00, which must not refuse a request. */
    public static Optional<TraceParent> read(String header) {
        return FORM.matcher(header).matches() ? Optional.of(new TraceParent(header)) : Optional.empty();
    }

    /** Returns the trace among the tags of a job; empty if there is none. */
    public static Optional<TraceParent> in(Set<String> tags) {
        return tags.stream()
                .filter(tag -> tag.startsWith(PREFIX))
                .map(tag -> tag.substring(PREFIX.length()))
                .flatMap(text -> read(text).stream())
                .findFirst();
    }

    /** Returns the job with this trace, in place of another; unchanged if it has as many tags as it may have. */
    public JobSpec addTo(JobSpec job) {
        Set<String> tags = new TreeSet<>(job.tags());
        tags.removeIf(tag -> tag.startsWith(PREFIX));
        if (tags.size() >= JobSpec.MAX_TAGS) {
            return job;
        }
        tags.add(tag());
        return job.toBuilder().tags(tags).build();
    }

    /** Returns the tag of jobs that were enqueued in this trace. */
    public String tag() {
        return PREFIX + text;
    }

    /** Returns the trace id, 32 hexadecimal digits. */
    public String traceId() {
        return text.substring(3, 35);
    }

    /** Returns the span id, 16 hexadecimal digits. */
    public String spanId() {
        return text.substring(36, 52);
    }

    /** Returns whether the caller recorded the trace. */
    public boolean isSampled() {
        return (Integer.parseInt(text.substring(53), 16) & 1) != 0;
    }
}
