// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.job.JobSpec;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The trace in which a job was enqueued or ran, as the header {@code traceparent} of W3C Trace Context. It is kept as a
 * tag of the job, so that jobs can be found by their trace. Immutable.
 *
 * @param text version, trace id, span id and flags, such as
 *     {@code 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}
 * @since 0.1.0
 */
public record TraceParent(String text) {

    private static final String PREFIX = "trace:";

    /** Before the trace of the latest run that did not succeed. */
    private static final String RUN = "run:";

    private static final int LENGTH = 55;

    /**
     * Checks the form.
     *
     * @throws IllegalArgumentException if {@code text} is not a {@code traceparent} of version 00
     */
    public TraceParent {
        if (!isWellFormed(text, 0)) {
            throw new IllegalArgumentException("a traceparent has the form 00-<trace id>-<span id>-<flags>");
        }
    }

    /** Reads a header; empty if it is missing or not of version 00, which must not refuse a request. */
    public static Optional<TraceParent> read(String header) {
        return isWellFormed(header, 0) ? Optional.of(new TraceParent(header)) : Optional.empty();
    }

    /** Returns the trace among the tags of a job; empty if there is none. */
    public static Optional<TraceParent> in(Set<String> tags) {
        return find(tags, PREFIX);
    }

    /**
     * Returns the trace of the latest run of a job that was traced and did not succeed, among the job's tags; empty if
     * there is none.
     */
    public static Optional<TraceParent> ofRun(Set<String> tags) {
        return find(tags, RUN);
    }

    private static Optional<TraceParent> find(Set<String> tags, String prefix) {
        for (String tag : tags) {
            if (isTrace(tag, prefix)) {
                return Optional.of(new TraceParent(tag.substring(prefix.length())));
            }
        }
        return Optional.empty();
    }

    private static boolean isTrace(String tag, String prefix) {
        return tag.startsWith(prefix) && isWellFormed(tag, prefix.length());
    }

    /** Returns tags with this trace as that of the latest run; unchanged if there are as many as a job may have. */
    public Set<String> addRunTo(Set<String> tags) {
        Set<String> others = new TreeSet<>(tags);
        others.removeIf(tag -> isTrace(tag, RUN));
        if (others.size() >= JobSpec.MAX_TAGS) {
            return tags;
        }
        others.add(RUN + text);
        return others;
    }

    /** Version 00 only; an id of zeros means none. By hand, because every run of a traced job asks. */
    private static boolean isWellFormed(String text, int at) {
        return text.length() == at + LENGTH
                && text.startsWith("00-", at)
                && isId(text, at + 3, at + 35)
                && text.charAt(at + 35) == '-'
                && isId(text, at + 36, at + 52)
                && text.charAt(at + 52) == '-'
                && isHex(text.charAt(at + 53))
                && isHex(text.charAt(at + 54));
    }

    private static boolean isId(String text, int from, int to) {
        boolean zero = true;
        for (int i = from; i < to; i++) {
            if (!isHex(text.charAt(i))) {
                return false;
            }
            zero &= text.charAt(i) == '0';
        }
        return !zero;
    }

    private static boolean isHex(char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    }

    /** Returns the job with this trace, in place of another; unchanged if it has as many tags as it may have. */
    public JobSpec addTo(JobSpec job) {
        if (job.tags().isEmpty()) {
            return job.toBuilder().tags(Set.of(tag())).build();
        }
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
