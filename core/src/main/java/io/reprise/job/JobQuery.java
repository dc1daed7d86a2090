// SPDX-License-Identifier: Apache-2.0
package io.reprise.job;

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
 * A query for jobs. A condition that is not set does not restrict; conditions that are set must all hold. The answer
 * comes page by page, greatest id first.
 *
 * <p>Immutable and thread-safe: each method returns a copy. If a condition is set twice, the last call wins.
 *
 * @since 0.1.0
 */
public final class JobQuery {

    /** Jobs per page at most. */
    public static final int MAX_LIMIT = 1_000;

    /**
     * Rows that a store reads for one page at most. If this is not enough, the page is short or even empty and has a
     * cursor.
     */
    public static final int MAX_LOOKS = 10_000;

    /** Begins the name of a batch that belongs to a join, and the place of a child behind it. */
    private static final char JOIN = '#';

    private static final int MAX_JOIN = 240;

    private static final JobQuery ALL = new JobQuery();

    private Set<JobState> states = Set.of();
    private @Nullable String queue;
    private @Nullable String queuePrefix;
    private @Nullable String type;
    private @Nullable String resource;
    private @Nullable String tag;
    private @Nullable String fingerprint;
    private @Nullable String schedule;
    private @Nullable String batch;
    private @Nullable Instant createdFrom;
    private @Nullable Instant createdBefore;
    private int limit = 100;
    private int looks = MAX_LOOKS;
    private @Nullable String cursor;
    private boolean brief;

    private JobQuery() {}

    /** Returns a query without conditions: 100 jobs per page. */
    public static JobQuery all() {
        return ALL;
    }

    /** Returns a query for dead letters: jobs in state FAILED. */
    public static JobQuery deadLetters() {
        return ALL.state(JobState.FAILED);
    }

    /**
     * Restricts to jobs in one of these states.
     *
     * @throws NullPointerException if a state is null
     */
    public JobQuery state(JobState first, JobState... more) {
        return with(copy -> copy.states = Set.copyOf(EnumSet.of(first, more)));
    }

    /** Restricts to jobs of this queue. */
    public JobQuery queue(String name) {
        return with(copy -> copy.queue = name);
    }

    /** Restricts to jobs of the queues whose names begin with this text; null removes the condition. */
    public JobQuery queuePrefix(@Nullable String beginning) {
        return with(copy -> copy.queuePrefix = beginning);
    }

    /** Restricts to jobs of this type. */
    public JobQuery type(String name) {
        return with(copy -> copy.type = name);
    }

    /** Restricts to jobs of this resource. */
    public JobQuery resource(String name) {
        return with(copy -> copy.resource = name);
    }

    /** Restricts to jobs with this tag. */
    public JobQuery tag(String name) {
        return with(copy -> copy.tag = name);
    }

    /** Restricts to jobs whose latest failure has this fingerprint. */
    public JobQuery fingerprint(String hash) {
        return with(copy -> copy.fingerprint = hash);
    }

    /** Restricts to jobs that this schedule created. */
    public JobQuery schedule(String name) {
        return with(copy -> copy.schedule = name);
    }

    /**
     * Restricts to members of this batch.
     *
     * @throws IllegalArgumentException if this cannot be the name of a batch
     */
    public JobQuery batch(String name) {
        if (name.isEmpty() || name.charAt(0) != JOIN) {
            JobSpec.requireName("batch", name);
        } else if (name.length() > MAX_JOIN || name.indexOf(0) >= 0) {
            throw new IllegalArgumentException("batch is not the name of a join's batch");
        }
        return with(copy -> copy.batch = name);
    }

    /** Restricts to jobs created at this time or later. */
    public JobQuery createdFrom(Instant inclusive) {
        return with(copy -> copy.createdFrom = inclusive);
    }

    /** Restricts to jobs created before this time. */
    public JobQuery createdBefore(Instant exclusive) {
        return with(copy -> copy.createdBefore = exclusive);
    }

    /**
     * Sets the number of jobs per page. Default: 100.
     *
     * @param jobs 1 to {@value #MAX_LIMIT}
     * @throws IllegalArgumentException if {@code jobs} is out of its bounds
     */
    public JobQuery limit(int jobs) {
        if (jobs < 1 || jobs > MAX_LIMIT) {
            throw new IllegalArgumentException("limit must be 1 to " + MAX_LIMIT + ", not " + jobs);
        }
        return with(copy -> copy.limit = jobs);
    }

    /**
     * Sets the number of rows that are read for one page at most. With fewer rows a page comes sooner and may be
     * shorter. Default: {@value #MAX_LOOKS}.
     *
     * @param rows 10 to {@value #MAX_LOOKS}
     * @throws IllegalArgumentException if {@code rows} is out of its bounds
     */
    public JobQuery looks(int rows) {
        if (rows < 10 || rows > MAX_LOOKS) {
            throw new IllegalArgumentException("looks must be 10 to " + MAX_LOOKS + ", not " + rows);
        }
        return with(copy -> copy.looks = rows);
    }

    /**
     * Continues where a page ended.
     *
     * @param next {@link Page#next} of that page, unchanged; null for the first page
     */
    public JobQuery after(@Nullable String next) {
        return with(copy -> copy.cursor = next);
    }

    /**
     * Asks for jobs as {@link io.reprise.job.Job#brief} has them, without the large parts. A store does not read those,
     * which may be megabytes.
     */
    public JobQuery brief() {
        return with(copy -> copy.brief = true);
    }

    /** Returns the states; empty means any. */
    public Set<JobState> states() {
        return states;
    }

    /** Returns the queue; null means any. */
    public @Nullable String queue() {
        return queue;
    }

    /** Returns the beginning of the names of queues; null means any. */
    public @Nullable String queuePrefix() {
        return queuePrefix;
    }

    /** Returns the job type; null means any. */
    public @Nullable String type() {
        return type;
    }

    /** Returns the resource; null means any. */
    public @Nullable String resource() {
        return resource;
    }

    /** Returns the tag; null means any. */
    public @Nullable String tag() {
        return tag;
    }

    /** Returns the fingerprint of the latest failure; null means any. */
    public @Nullable String fingerprint() {
        return fingerprint;
    }

    /** Returns the schedule; null means any. */
    public @Nullable String schedule() {
        return schedule;
    }

    /** Returns the batch; null means any. */
    public @Nullable String batch() {
        return batch;
    }

    /** Returns the earliest creation time, inclusive; null means any. */
    public @Nullable Instant createdFrom() {
        return createdFrom;
    }

    /** Returns the latest creation time, exclusive; null means any. */
    public @Nullable Instant createdBefore() {
        return createdBefore;
    }

    /** Returns the number of jobs per page. */
    public int limit() {
        return limit;
    }

    /** Returns the number of rows that are read for one page at most. */
    public int looks() {
        return looks;
    }

    /** Returns the cursor; null means the first page. */
    public @Nullable String cursor() {
        return cursor;
    }

    /** Returns whether jobs come without their large parts. */
    public boolean isBrief() {
        return brief;
    }

    /** Returns whether a job meets all conditions. */
    public boolean matches(Job job) {
        JobStatus.LastError error = job.status().lastError();
        Instant created = job.times().createdAt();
        return (states.isEmpty() || states.contains(job.state()))
                && (tag == null || job.spec().tags().contains(tag))
                && fits(queue, job.queue())
                && (queuePrefix == null || job.queue().startsWith(queuePrefix))
                && fits(type, job.type())
                && fits(resource, job.spec().resource())
                && fits(schedule, job.spec().schedule())
                && (batch == null || isMember(batch, job.spec().batch()))
                && fits(fingerprint, error == null ? null : error.fingerprint())
                && (createdFrom == null || !created.isBefore(createdFrom))
                && (createdBefore == null || created.isBefore(createdBefore));
    }

    /** Children of a join have their places behind its name. */
    private static boolean isMember(String batch, @Nullable String membership) {
        return membership != null
                && (batch.equals(membership) || (batch.charAt(0) == JOIN && membership.startsWith(batch + JOIN)));
    }

    private static boolean fits(@Nullable String wanted, @Nullable String actual) {
        return wanted == null || wanted.equals(actual);
    }

    /** Returns the conditions as a text for people. */
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
        asked.put("batch", batch);
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
        copy.batch = batch;
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
