// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.time.Duration;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;

/**
 * Creates a job again and again, by cron expression or interval, whatever became of the previous one. Immutable: each
 * method returns a copy.
 *
 * <p>A cron time that the zone's clock skips in spring fires at the first instant after the gap; one that occurs twice in
 * autumn fires once, the first time.
 *
 * @param cron five or six fields (seconds first if six); null for an interval
 * @param every the interval; null for cron
 * @param overlap whether to fire while the previous job is still pending or running
 */
public record Schedule(
        String name,
        JobRequest<?> job,
        @Nullable String cron,
        @Nullable Duration every,
        ZoneId zone,
        MissedFire missed,
        boolean overlap) {

    /** What to do about firings that nobody was there to make. */
    public enum MissedFire {
        /** Fire once for all that were missed, then go on. The default. */
        ONCE,
        /** Fire none of them, then go on. */
        SKIP,
        /** Fire each of them, one after the other. */
        ALL
    }

    public Schedule {
        JobSpec.requireName("schedule", name);
        if ((cron == null) == (every == null)) {
            throw new IllegalArgumentException("schedule '" + name + "' needs either a cron expression or an interval");
        }
        if (every != null && (every.compareTo(Duration.ofSeconds(1)) < 0 || every.compareTo(JobSpec.MAX_DELAY) > 0)) {
            throw new IllegalArgumentException(
                    "interval of schedule '" + name + "' must be 1 s to " + JobSpec.MAX_DELAY + ", not " + every);
        }
    }

    /** Fires by a cron expression, read in UTC unless {@link #zone} says otherwise. */
    public static Schedule cron(String name, String expression, JobRequest<?> job) {
        return new Schedule(name, job, expression, null, ZoneId.of("UTC"), MissedFire.ONCE, false);
    }

    /** Fires at a fixed rate, the first time one interval after it was first stored. */
    public static Schedule every(String name, Duration interval, JobRequest<?> job) {
        return new Schedule(name, job, null, interval, ZoneId.of("UTC"), MissedFire.ONCE, false);
    }

    public Schedule zone(ZoneId zone) {
        return new Schedule(name, job, cron, every, zone, missed, overlap);
    }

    public Schedule missed(MissedFire rule) {
        return new Schedule(name, job, cron, every, zone, rule, overlap);
    }

    public Schedule allowOverlap() {
        return new Schedule(name, job, cron, every, zone, missed, true);
    }
}
