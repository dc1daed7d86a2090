// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.control.Tally.Counts;
import java.time.Duration;
import java.time.Instant;

/**
 * A rate that feels its way: it grows by a constant step per second and shrinks by the share of calls that failed (AIMD),
 * between one call per second and twice the rate at which work arrives. Permits for calls accrue at this rate.
 *
 * @param rate calls per second that may start in the whole fleet
 * @param permits calls that may start now
 * @param at up to when permits have accrued
 * @param seen outcomes since the rate was last judged
 * @param judged when that was
 * @param bad judgements in a row in which most calls failed
 */
public record Ramp(double rate, double permits, Instant at, Counts seen, Instant judged, int bad) {

    /** Where a ramp begins, as a part of the rate that was good before. */
    static final double START = 0.2;

    /** Growth per second, as a part of the same rate. */
    static final double STEP = 0.05;

    /** The steepest a ramp gets, in the same measure: enough to catch up, and no flood. */
    static final double TOP = 2;

    private static final double LOWEST = 1;
    private static final double LEAST_BASE = 5;
    private static final double STEEPEST_FALL = 0.5;
    private static final double BURST_SECONDS = 0.5;
    private static final Duration JUDGE = Duration.ofSeconds(1);
    private static final double MAX_STEP_SECONDS = 5;
    private static final int COLLAPSE = 3;

    /** At rest. */
    static Ramp none(Instant now) {
        return new Ramp(0, 0, now, Counts.NONE, now, 0);
    }

    static Ramp start(double base, Instant now) {
        return at(Math.max(base, LEAST_BASE) * START, now);
    }

    static Ramp at(double rate, Instant now) {
        return new Ramp(Math.max(rate, LOWEST), 1, now, Counts.NONE, now, 0);
    }

    Ramp accrue(Instant now) {
        double grown = permits + rate * seconds(at, now);
        return new Ramp(rate, Math.min(grown, Math.max(1, rate * BURST_SECONDS)), later(at, now), seen, judged, bad);
    }

    Ramp take(int calls) {
        return new Ramp(rate, permits - calls, at, seen, judged, bad);
    }

    /** Moves the rate once a second, when there is evidence. */
    Ramp after(Counts counts, double failureRate, double base, Instant now) {
        Counts all = seen.plus(counts);
        double seconds = seconds(judged, now);
        if (all.calls() == 0 || Duration.between(judged, now).compareTo(JUDGE) < 0) {
            return new Ramp(rate, permits, at, all, judged, bad);
        }
        double scale = Math.max(base, LEAST_BASE);
        double share = (double) (all.failures() + all.throttled()) / all.calls();
        double fallen = rate * Math.max(STEEPEST_FALL, 1 - share);
        double risen = fallen + (share < STEEPEST_FALL ? STEP * scale * Math.min(seconds, MAX_STEP_SECONDS) : 0);
        boolean worse = (double) all.failures() / all.calls() >= failureRate;
        return new Ramp(
                Math.max(LOWEST, Math.min(risen, TOP * scale)), permits, at, Counts.NONE, now, worse ? bad + 1 : 0);
    }

    /** Whether it is no use: most calls failed time after time, however few they were. */
    boolean collapsed() {
        return bad >= COLLAPSE;
    }

    private static double seconds(Instant from, Instant to) {
        return Math.max(0, Duration.between(from, to).toNanos() / 1e9);
    }

    private static Instant later(Instant a, Instant b) {
        return a.isAfter(b) ? a : b;
    }
}
