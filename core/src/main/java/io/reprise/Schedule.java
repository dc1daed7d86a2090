// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.upkeep.ScheduleRule;
import io.reprise.job.JobSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * A rule that creates a job again and again, by cron expression or interval, however the previous job ended. A job that
 * has spent all its retries does not stop the schedule. Immutable: each method returns a copy, and the last call of a
 * method wins.
 *
 * <p>In spring, a cron time that the clock of the zone skips fires at the first instant after the gap. In autumn, a
 * time that occurs twice fires once, the first time. A cron whose hours begin with {@code *} fires through both:
 * nothing is added or left out.
 *
 * @param name name of the schedule, unique in the store
 * @param job the job that each firing enqueues; it must not have an idempotency key
 * @param timing when it fires
 * @since 0.1.0
 */
public record Schedule(String name, JobRequest<?> job, Timing timing) {

    /** The rule for firings that were missed, because no worker ran or the schedule was paused. */
    public enum MissedFire {
        /** Fires once for all that were missed, then goes on. The default. */
        ONCE,
        /** Fires none of those that are more than a minute late, then goes on. */
        SKIP,
        /** Fires each of them, one after the other. */
        ALL
    }

    /**
     * When a schedule fires. Exactly one of cron, interval and fixed delay is set.
     *
     * @param cron cron expression of five fields, or of six with seconds first
     * @param every the interval between two firings
     * @param fixedDelay the time from the end of one job to the next firing
     * @param zone time zone of the cron expression
     * @param missed the rule for firings that were missed
     * @param overlap whether the schedule fires while its previous job is pending or running. If false, such a firing
     *     is left out, or waits for the job to end under {@link MissedFire#ALL}
     * @param span beginning, end and jitter
     * @since 0.1.0
     */
    public record Timing(
            @Nullable String cron,
            @Nullable Duration every,
            @Nullable Duration fixedDelay,
            ZoneId zone,
            MissedFire missed,
            boolean overlap,
            Span span) {

        private Timing(@Nullable String cron, @Nullable Duration every, @Nullable Duration fixedDelay) {
            this(cron, every, fixedDelay, ZoneId.of("UTC"), MissedFire.ONCE, false, Span.OPEN);
        }

        private Timing with(Span other) {
            return new Timing(cron, every, fixedDelay, zone, missed, overlap, other);
        }
    }

    /**
     * From when to when a schedule fires, and how far its jobs are spread.
     *
     * @param firstNow whether it fires as soon as it is stored
     * @param start no firing is earlier; null for none
     * @param end no firing is later; null for none
     * @param jitter each job becomes due up to this much later than its firing
     * @since 0.1.0
     */
    public record Span(
            boolean firstNow,
            @Nullable Instant start,
            @Nullable Instant end,
            Duration jitter) {
        private static final Span OPEN = new Span(false, null, null, Duration.ZERO);
    }

    /**
     * Checks name and timing.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}; if not
     *     exactly one of cron, interval and fixed delay is set; if the cron expression cannot be read; if a value is
     *     outside its bounds; or if two values contradict each other
     */
    public Schedule {
        JobSpec.requireName("schedule", name);
        ScheduleRule.check(name, timing);
    }

    /**
     * Creates a schedule that fires by a cron expression, in UTC, with {@link MissedFire#ONCE} and without overlap.
     *
     * @param expression five fields, or six with seconds first
     * @throws IllegalArgumentException if the expression cannot be read or never fires, or {@code name} does not have the
     *     form of {@link JobSpec#requireName}
     */
    public static Schedule cron(String name, String expression, JobRequest<?> job) {
        return new Schedule(name, job, new Timing(expression, null, null));
    }

    /**
     * Creates a schedule that fires at a fixed rate, with {@link MissedFire#ONCE} and without overlap. It fires first
     * one interval after it was stored, or at its {@link #start}. {@link #firstNow} makes it fire at once.
     *
     * @param interval 1 s to 36,500 days
     * @throws IllegalArgumentException if {@code interval} is outside these bounds, or {@code name} does not have the
     *     form of {@link JobSpec#requireName}
     */
    public static Schedule every(String name, Duration interval, JobRequest<?> job) {
        return new Schedule(name, job, new Timing(null, interval, null));
    }

    /**
     * Creates a schedule that fires a fixed time after its previous job has ended: succeeded, failed for good or
     * cancelled. It never overlaps and misses nothing. It fires first one delay after it was stored, or at its
     * {@link #start}. {@link #firstNow} makes it fire at once.
     *
     * @param delay 1 s to 36,500 days
     * @throws IllegalArgumentException if {@code delay} is outside these bounds, or {@code name} does not have the form
     *     of {@link JobSpec#requireName}
     */
    public static Schedule fixedDelay(String name, Duration delay, JobRequest<?> job) {
        return new Schedule(name, job, new Timing(null, null, delay));
    }

    /** Sets the time zone of the cron expression. The default is UTC. It does not matter for an interval. */
    public Schedule zone(ZoneId zone) {
        return with(new Timing(
                timing.cron, timing.every, timing.fixedDelay, zone, timing.missed, timing.overlap, timing.span));
    }

    /**
     * Sets the rule for firings that were missed. The default is {@link MissedFire#ONCE}.
     *
     * @throws IllegalArgumentException if the schedule has a fixed delay and the rule is another than ONCE
     */
    public Schedule missed(MissedFire rule) {
        return with(new Timing(
                timing.cron, timing.every, timing.fixedDelay, timing.zone, rule, timing.overlap, timing.span));
    }

    /**
     * Lets the schedule fire while its previous job is pending or running. The default is not to.
     *
     * @throws IllegalArgumentException if the schedule has a fixed delay
     */
    public Schedule allowOverlap() {
        return with(new Timing(
                timing.cron, timing.every, timing.fixedDelay, timing.zone, timing.missed, true, timing.span));
    }

    /**
     * Makes the schedule fire as soon as it is stored, but not before its {@link #start}. Storing it again with the
     * same rule fires nothing.
     */
    public Schedule firstNow() {
        return with(timing.with(new Span(true, timing.span.start, timing.span.end, timing.span.jitter)));
    }

    /**
     * Sets the time before which the schedule does not fire. An interval fires at this time and counts from it, also
     * from one in the past. A cron fires at its first time that is not earlier.
     *
     * @throws IllegalArgumentException if it is not before the end, before 1970 or after 9998
     */
    public Schedule start(Instant time) {
        return with(timing.with(new Span(timing.span.firstNow, time, timing.span.end, timing.span.jitter)));
    }

    /**
     * Sets the time after which the schedule does not fire. The schedule stays and is shown as ended. Firings that were
     * missed before the end are made up for later only under {@link MissedFire#ALL}.
     *
     * @throws IllegalArgumentException if it is not after the start, before 1970 or after 9998
     */
    public Schedule end(Instant time) {
        return with(timing.with(new Span(timing.span.firstNow, timing.span.start, time, timing.span.jitter)));
    }

    /**
     * Spreads jobs: each becomes due up to this much later than its firing. How much later follows from the name and
     * the time of the firing, so many schedules with one rule do not start in the same second. The default is zero.
     *
     * @param most 0 to the interval or the fixed delay; to 24 h for a cron
     * @throws IllegalArgumentException if {@code most} is outside these bounds
     */
    public Schedule jitter(Duration most) {
        return with(timing.with(new Span(timing.span.firstNow, timing.span.start, timing.span.end, most)));
    }

    private Schedule with(Timing other) {
        return new Schedule(name, job, other);
    }
}
