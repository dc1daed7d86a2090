// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobState;
import java.time.Instant;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Which jobs to find; what is not said does not restrict. Immutable: every method returns a copy. Answers come newest
 * id first, a page at a time.
 */
public final class JobQuery {

    public static final int MAX_LIMIT = 1_000;

    /**
     * Rows that a store looks at for one page, at most. A page for which this was not enough is short, or even empty, and has
     * a cursor to go on.
     */
    public static final int MAX_LOOKS = 10_000;

    private static final JobQuery ALL = new JobQuery();

    private Set<JobState> states = Set.of();
    private @Nullable String queue;
    private @Nullable String queuePrefix;
    private @Nullable String type;
    private @Nullable String resource;
    private @Nullable String tag;
    private @Nullable String fingerprint;
    private @Nullable String schedule;
    private @Nullable Instant createdFrom;
    private @Nullable Instant createdBefore;
    private int limit = 100;
    private int looks = MAX_LOOKS;
    private @Nullable String cursor;
    private boolean brief;

    private JobQuery() {}

    public static JobQuery all() {
        return ALL;
    }

    public static JobQuery deadLetters() {
        return ALL.state(JobState.FAILED);
    }

    public JobQuery state(JobState first, JobState... more) {
        return with(copy -> copy.states = Set.copyOf(EnumSet.of(first, more)));
    }

    public JobQuery queue(String name) {
        return with(copy -> copy.queue = name);
    }

    /** Jobs of all queues whose names begin like this. */
    public JobQuery queuePrefix(@Nullable String beginning) {
        return with(copy -> copy.queuePrefix = beginning);
    }

    public JobQuery type(String name) {
        return with(copy -> copy.type = name);
    }

    public JobQuery resource(String name) {
        return with(copy -> copy.resource = name);
    }

    public JobQuery tag(String name) {
        return with(copy -> copy.tag = name);
    }

    /** Fingerprint of the latest failure. */
    public JobQuery fingerprint(String hash) {
        return with(copy -> copy.fingerprint = hash);
    }

    /** Jobs that this schedule created. */
    public JobQuery schedule(String name) {
        return with(copy -> copy.schedule = name);
    }

    public JobQuery createdFrom(Instant inclusive) {
        return with(copy -> copy.createdFrom = inclusive);
    }

    public JobQuery createdBefore(Instant exclusive) {
        return with(copy -> copy.createdBefore = exclusive);
    }

    /**
     * Jobs per page.
     *
     * @throws IllegalArgumentException unless 1 to {@value #MAX_LIMIT}
     */
    public JobQuery limit(int jobs) {
        if (jobs < 1 || jobs > MAX_LIMIT) {
            throw new IllegalArgumentException("limit must be 1 to " + MAX_LIMIT + ", not " + jobs);
        }
        return with(copy -> copy.limit = jobs);
    }

    /**
     * Rows that are looked at for one page at most, {@value #MAX_LOOKS} unless told otherwise: with fewer, a page comes sooner
     * and may be shorter.
     *
     * @throws IllegalArgumentException unless 10 to {@value #MAX_LOOKS}
     */
    public JobQuery looks(int rows) {
        if (rows < 10 || rows > MAX_LOOKS) {
            throw new IllegalArgumentException("looks must be 10 to " + MAX_LOOKS + ", not " + rows);
        }
        return with(copy -> copy.looks = rows);
    }

    /** Go on where a page ended: {@link Page#next}. */
    public JobQuery after(@Nullable String next) {
        return with(copy -> copy.cursor = next);
    }

    /**
     * Jobs as {@link io.reprise.Job#brief} has them. A store does not even read what is left out, which may be megabytes.
     */
    public JobQuery brief() {
        return with(copy -> copy.brief = true);
    }

    /** Empty means any. */
    public Set<JobState> states() {
        return states;
    }

    public @Nullable String queue() {
        return queue;
    }

    public @Nullable String queuePrefix() {
        return queuePrefix;
    }

    public @Nullable String type() {
        return type;
    }

    public @Nullable String resource() {
        return resource;
    }

    public @Nullable String tag() {
        return tag;
    }

    public @Nullable String fingerprint() {
        return fingerprint;
    }

    public @Nullable String schedule() {
        return schedule;
    }

    public @Nullable Instant createdFrom() {
        return createdFrom;
    }

    public @Nullable Instant createdBefore() {
        return createdBefore;
    }

    public int limit() {
        return limit;
    }

    public int looks() {
        return looks;
    }

    public @Nullable String cursor() {
        return cursor;
    }

    public boolean isBrief() {
        return brief;
    }

    /** What it asks for, for people. */
    @Override
    public String toString() {
        Map<String, @Nullable Object> asked = new LinkedHashMap<>();
        asked.put("state", states.isEmpty() ? null : new TreeSet<>(states));
        asked.put("queue", queue);
        asked.put("queuePrefix", queuePrefix);
        asked.put("type", type);
        asked.put("resource", resource);
        asked.put("tag", tag);
        asked.put("fingerprint", fingerprint);
        asked.put("schedule", schedule);
        asked.put("createdFrom", createdFrom);
        asked.put("createdBefore", createdBefore);
        asked.values().removeIf(Objects::isNull);
        return asked.isEmpty() ? "all jobs" : "jobs with " + asked;
    }

    private JobQuery with(Consumer<JobQuery> change) {
        JobQuery copy = new JobQuery();
        copy.states = states;
        copy.queue = queue;
        copy.queuePrefix = queuePrefix;
        copy.type = type;
        copy.resource = resource;
        copy.tag = tag;
        copy.fingerprint = fingerprint;
        copy.schedule = schedule;
        copy.createdFrom = createdFrom;
        copy.createdBefore = createdBefore;
        copy.limit = limit;
        copy.looks = looks;
        copy.cursor = cursor;
        copy.brief = brief;
        change.accept(copy);
        return copy;
    }
}
