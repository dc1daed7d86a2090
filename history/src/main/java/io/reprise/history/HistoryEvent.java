// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One event, which happened or may have happened. A store call happened between {@code from} and
 * {@code until}, in nanoseconds of one clock for the whole history. Of two events one is surely earlier only
 * if it ended before the other began.
 *
 * @param who the worker or client
 * @param job 0 if it is not about one job
 * @param token 0 if it is not about one lease
 * @param details other facts, by name
 */
public record HistoryEvent(
        Kind kind, long from, long until, String who, long job, long token, Map<String, String> details) {

    /** The kind of event. The names of its details follow in brackets. */
    public enum Kind {
        /** An enqueue was acknowledged [created, replaced, key, due, deadline, queue, attempts, losses]. */
        ENQUEUED,
        /** A job was leased to {@code who} [at, lease, queue, alone, suspects, deadline]. */
        CLAIMED,
        /** {@code who} took over an expired lease under a new token [lost, loser, lease, alone]. */
        TAKEN_OVER,
        /** A lease was extended [lease]. */
        RENEWED,
        /** A worker learned that its lease is not live any more. */
        LEASE_LOST,
        /** A handler began [at, behind]. */
        STARTED,
        /** A handler ended [error]. */
        ENDED,
        /** An outcome is about to be written [spent, next, awaits, granted]. */
        OFFERED,
        /** The outcome was written [spent, next, awaits, granted, at, due, cancelled]. */
        ACCEPTED,
        /** The outcome was not written: its token was not live. */
        REFUSED,
        /** A lease was closed. */
        CLOSED,
        /** A cancellation was answered [result]. */
        CANCELLED,
        /** A person put a job back [id, due, deadline, reset, grant]. */
        REQUEUED,
        /** A job was deleted. */
        DISCARDED,
        /** A waiting job failed because its deadline had passed [at]. */
        EXPIRED,
        /** A schedule fired [schedule, due]. */
        FIRED,
        /** A queue was paused [queue]. */
        PAUSED,
        /** A queue was resumed [queue]. */
        RESUMED,
        /** A listener received an event [what, due]. */
        TOLD,
        /** A worker was closed in an orderly way and could write everything; {@code from} is its start. */
        STOPPED,
        /**
         * A call failed and may have happened or not; or it joined a transaction whose end is not known [call, joined].
         */
        UNKNOWN,
        /** A handler began the work of a step [step, once]. */
        STEPPED,
        /** A step of a run that goes on was stored [step, state, granted]. */
        CHECKPOINTED,
        /** A job was told an event [step]. */
        EVENT_TOLD,
        /** A call failed that makes no difference to any job [call]. */
        UNANSWERED,
        /** A job as it was read [state, wait, fail, due, attempts, losses, interruptions, snoozes, granted, key, …]. */
        ROW
    }

    static final String JOINED = "joined";

    private static final int FIELDS = 6;

    /** Copies the details. */
    public HistoryEvent {
        details = Collections.unmodifiableMap(new TreeMap<>(details));
    }

    /** Returns a detail, or null if the event has none of this name. */
    public @Nullable String detail(String name) {
        return details.get(name);
    }

    /** Whether a call failed that may have happened or not. */
    public boolean isLostAnswer() {
        return kind == Kind.UNKNOWN && !isTrue(JOINED);
    }

    boolean is(String name, String value) {
        return value.equals(details.get(name));
    }

    boolean isTrue(String name) {
        return is(name, "true");
    }

    long number(String name) {
        return Long.parseLong(Objects.requireNonNull(details.get(name), name));
    }

    @Nullable
    Instant time(String name) {
        String text = details.get(name);
        return text == null ? null : Instant.parse(text);
    }

    boolean isSurelyAfter(long nanos) {
        return from > nanos;
    }

    /** Returns one line, without its end. */
    public String toLine() {
        StringBuilder line = new StringBuilder()
                .append(kind)
                .append('\t')
                .append(from)
                .append('\t')
                .append(until)
                .append('\t')
                .append(escape(who))
                .append('\t')
                .append(job)
                .append('\t')
                .append(token);
        details.forEach(
                (name, value) -> line.append('\t').append(name).append('=').append(escape(value)));
        return line.toString();
    }

    /**
     * Reads a line.
     *
     * @throws IllegalArgumentException if it is not the line of an event
     */
    public static HistoryEvent parse(String line) {
        String[] fields = line.split("\t", -1);
        if (fields.length < FIELDS) {
            throw new IllegalArgumentException("not an event: " + line);
        }
        Map<String, String> details = new TreeMap<>();
        for (int i = FIELDS; i < fields.length; i++) {
            int equals = fields[i].indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("not a detail: " + fields[i]);
            }
            details.put(fields[i].substring(0, equals), unescape(fields[i].substring(equals + 1)));
        }
        return new HistoryEvent(
                Kind.valueOf(fields[0]),
                Long.parseLong(fields[1]),
                Long.parseLong(fields[2]),
                unescape(fields[3]),
                Long.parseLong(fields[4]),
                Long.parseLong(fields[5]),
                details);
    }

    private static String escape(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("%3A", ":");
    }

    private static String unescape(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    /** Returns text for people. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(who)
                .append(' ')
                .append(kind.name().toLowerCase(Locale.ROOT).replace('_', ' '));
        if (job != 0) {
            text.append(" job ").append(job);
        }
        if (token != 0) {
            text.append(" token ").append(token);
        }
        details.forEach(
                (name, value) -> text.append(' ').append(name).append('=').append(value));
        return text.toString();
    }
}
