// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How many jobs may run at once, or how many may start in a time. Immutable.
 *
 * @param running jobs that may run at once, 1 to 1,000,000; null for any number
 * @param starts jobs that may start in each {@code per}, 1 to 1,000,000; null for any number
 * @param per the time of the rate, 1 ms to 1 day; null if there is no rate
 * @param burst jobs that may start at once after a pause, 1 to 1,000,000; 0 if there is no rate
 * @param ordered whether a job that started keeps all others of its group back until it has ended, also while it waits
 *     for a retry. Only if one job may run at once
 * @since 0.1.0
 */
public record FlowLimit(
        @Nullable Integer running,
        @Nullable Integer starts,
        @Nullable Duration per,
        int burst,
        boolean ordered) {

    /** No limit. */
    public static final FlowLimit NONE = new FlowLimit(null, null, null, 0);

    private static final Integer ONE = 1;

    private static final int MAX_JOBS = 1_000_000;
    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(1);

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException if a number or the time is outside its bounds
     */
    public FlowLimit {
        if (ordered && !ONE.equals(running)) {
            throw new IllegalArgumentException("a group in order runs 1 job at once, not " + running);
        }
        if (running != null && (running < 1 || running > MAX_JOBS)) {
            throw new IllegalArgumentException("running must be 1 to " + MAX_JOBS + ", not " + running);
        }
        if ((starts == null) != (per == null) || (starts == null && burst != 0)) {
            throw new IllegalArgumentException("a rate has starts, a time and a burst");
        }
        if (starts != null && (starts < 1 || starts > MAX_JOBS)) {
            throw new IllegalArgumentException("starts of a rate must be 1 to " + MAX_JOBS + ", not " + starts);
        }
        if (per != null && (per.compareTo(SHORTEST) < 0 || per.compareTo(LONGEST) > 0)) {
            throw new IllegalArgumentException("the time of a rate must be 1 ms to 1 day, not " + per);
        }
        if (starts != null && (burst < 1 || burst > MAX_JOBS)) {
            throw new IllegalArgumentException("burst must be 1 to " + MAX_JOBS + ", not " + burst);
        }
    }

    /** Creates a limit that keeps no order. */
    public FlowLimit(@Nullable Integer running, @Nullable Integer starts, @Nullable Duration per, int burst) {
        this(running, starts, per, burst, false);
    }

    /**
     * Runs the jobs of a group one after the other, each after the one before it has ended. A job that failed and waits
     * for its retry keeps those behind it back, until it succeeded, is dead or is cancelled. {@code running(1)} lets the
     * next job run meanwhile. For groups only.
     */
    public static FlowLimit inOrder() {
        return new FlowLimit(ONE, null, null, 0, true);
    }

    /**
     * Limits how many jobs run at once in the whole fleet.
     *
     * @param jobs 1 to 1,000,000
     * @throws IllegalArgumentException if {@code jobs} is outside these bounds
     */
    public static FlowLimit running(int jobs) {
        return new FlowLimit(jobs, null, null, 0);
    }

    /**
     * Limits how many jobs start in each period in the whole fleet. The burst is what may start in a second, at least
     * one job.
     *
     * @param starts 1 to 1,000,000
     * @param per 1 ms to 1 day
     * @throws IllegalArgumentException if a value is outside these bounds
     */
    public static FlowLimit rate(int starts, Duration per) {
        // A time that no limit may have could not be counted in milliseconds.
        boolean counted = per.compareTo(SHORTEST) >= 0 && per.compareTo(LONGEST) <= 0;
        long millis = counted ? per.toMillis() : 1;
        return new FlowLimit(null, starts, per, (int) Math.max(1, Math.min(starts, starts * 1_000L / millis)));
    }

    /**
     * Sets how many jobs may start at once after a pause.
     *
     * @param jobs 1 to 1,000,000
     * @throws IllegalArgumentException if this limit has no rate, or {@code jobs} is outside these bounds
     */
    public FlowLimit burst(int jobs) {
        if (!isRate()) {
            throw new IllegalArgumentException("this limit has no rate: burst belongs to FlowLimit.rate(...)");
        }
        return new FlowLimit(running, starts, per, jobs, ordered);
    }

    /** Returns this limit with what another one sets. */
    FlowLimit with(FlowLimit other) {
        Integer both = other.running == null ? running : other.running;
        boolean keeps = other.running == null ? ordered : other.ordered;
        return other.starts == null
                ? new FlowLimit(both, starts, per, burst, keeps)
                : new FlowLimit(both, other.starts, other.per, other.burst, keeps);
    }

    /** Returns whether the number of starts in a time is limited. */
    public boolean isRate() {
        return starts != null;
    }

    /** Returns the time between two starts at the full rate; zero if there is no rate. */
    public Duration spacing() {
        return starts == null || per == null ? Duration.ZERO : per.dividedBy(starts);
    }

    /** Returns the time between two starts at the full rate, in microseconds. */
    double spacingMicros() {
        return starts == null || per == null ? 0 : per.toNanos() / 1_000.0 / starts;
    }
}
