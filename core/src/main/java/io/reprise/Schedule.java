// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.internal.upkeep.ScheduleRule;
import io.reprise.job.JobSpec;
import java.time.Duration;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * A rule that creates a job again and again, by cron expression or interval, however the previous job ended. Immutable:
 * each method returns a copy, and the last call of a method wins.
 *
 * <p>In spring, a cron time that the clock of the zone skips fires at the first instant after the gap. In autumn, a
 * time that occurs twice fires once, the first time. A cron whose hours begin with {@code *} fires through both:
 * nothing is added or left out.
 *
 * @param name name of the schedule, unique in the store
 * @param job the job that each firing enqueues; it must not have an idempotency key
 * @param cron cron expression of five fields, or of six with seconds first; null for an interval
 * @param every the interval, 1 s to 36,500 days; null for cron
 * @param zone time zone of the cron expression
 * @param missed the rule for firings that were missed
 * @param overlap whether the schedule fires while its previous job is pending or running. If false, such a firing is
 *     left out, or waits for the job to end under {@link MissedFire#ALL}
 * @since 0.1.0
 */
public record Schedule(
        String name,
        JobRequest<?> job,
        @Nullable String cron,
        @Nullable Duration every,
        ZoneId zone,
        MissedFire missed,
        boolean overlap) {

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
     * Checks name, cron expression and interval.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}; if both
     *     or neither of cron and interval are set; if the cron expression cannot be read; or if the interval is outside
     *     its bounds
     */
    public Schedule {
        JobSpec.requireName("schedule", name);
        if ((cron == null) == (every == null)) {
            throw new IllegalArgumentException("schedule '" + name + "' needs either a cron expression or an interval");
        }
        if (every != null && (every.compareTo(Duration.ofSeconds(1)) < 0 || every.compareTo(JobSpec.MAX_DELAY) > 0)) {
            throw new IllegalArgumentException(
                    "interval of schedule '" + name + "' must be 1 s to " + JobSpec.MAX_DELAY + ", not " + every);
        }
        if (cron != null) {
            ScheduleRule.requireCron(name, cron);
        }
    }

    /**
     * Creates a schedule that fires by a cron expression, in UTC, with {@link MissedFire#ONCE} and without overlap.
     *
     * @param expression five fields, or six with seconds first
     * @throws IllegalArgumentException if the expression cannot be read, or {@code name} does not have the form of
     *     {@link JobSpec#requireName}
     */
    public static Schedule cron(String name, String expression, JobRequest<?> job) {
        return new Schedule(name, job, expression, null, ZoneId.of("UTC"), MissedFire.ONCE, false);
    }

    /**
     * Creates a schedule that fires at a fixed rate, with {@link MissedFire#ONCE} and without overlap. It fires first
     * one interval after it was stored.
     *
     * @param interval 1 s to 36,500 days
     * @throws IllegalArgumentException if {@code interval} is outside these bounds, or {@code name} does not have the
     *     form of {@link JobSpec#requireName}
     */
    public static Schedule every(String name, Duration interval, JobRequest<?> job) {
        return new Schedule(name, job, null, interval, ZoneId.of("UTC"), MissedFire.ONCE, false);
    }

    /** Sets the time zone of the cron expression. The default is UTC. It does not matter for an interval. */
    public Schedule zone(ZoneId zone) {
        return new Schedule(name, job, cron, every, zone, missed, overlap);
    }

    /** Sets the rule for firings that were missed. The default is {@link MissedFire#ONCE}. */
    public Schedule missed(MissedFire rule) {
        return new Schedule(name, job, cron, every, zone, rule, overlap);
    }

    /** Lets the schedule fire while its previous job is pending or running. The default is not to. */
    public Schedule allowOverlap() {
        return new Schedule(name, job, cron, every, zone, missed, true);
    }
}
