// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.control.Tally.Counts;
import java.time.Duration;
import java.time.Instant;

/**
 * A rate of calls that feels its way (AIMD): it grows by steps while calls succeed, and falls below what came through when
 * they fail. It climbs fast to the rate at which work arrives, more slowly above that while calls take no longer than
 * before, and hardly at all near the rate at which it last fell. Permits for calls accrue at this rate.
 *
 * <p>Back-pressure also limits how many calls are in flight at once, again by AIMD. By Little's law a limit on calls in
 * flight is a limit on their rate: so many calls, divided by how long one takes. That needs no count of what runs, which
 * a worker that dies would leave wrong for ever; and when calls take longer, fewer are let go.
 *
 * @param rate calls per second that may start in the whole fleet
 * @param permits calls that may start now
 * @param at up to when permits have accrued
 * @param seen outcomes since the rate was last judged
 * @param judged when that was; outcomes of before belong to an earlier rate
 * @param through successes per second of late
 * @param quickest seconds that a call took when it took least
 * @param ceiling what came through before it last fell; 0 if it never did
 * @param falls judgements in a row that let it fall
 * @param took seconds that a call takes of late; 0 if none is known
 * @param inFlight calls that may be in flight at once; 0 if there was no back-pressure
 */
public record Ramp(
        double rate,
        double permits,
        Instant at,
        Counts seen,
        Instant judged,
        double through,
        double quickest,
        double ceiling,
        int falls,
        double took,
        double inFlight) {

    /** Where a ramp begins, as a part of the rate at which work arrives or was done before. The steps are, too. */
    static final double START = 0.4;

    private static final double STEP_BELOW = 0.2;
    private static final double STEP_ABOVE = 0.05;
    private static final double STEP_NEAR_CEILING = 0.005;

    /** The steepest a ramp gets: enough to catch up, and no flood. */
    static final double TOP = 2;

    private static final double NEAR = 0.9;
    private static final double BEYOND = 1.2;
    private static final double LOWEST = 1;
    private static final double LEAST_BASE = 5;
    /** More failures than that are not noise. */
    private static final double OVERLOADED = 0.1;

    private static final double FALL = 0.8;
    private static final double STEEP_FALL = 0.5;
    private static final double EASE = 0.95;
    private static final double WEIGHT = 0.3;
    private static final double SWAY = 0.5;
    private static final double SLOWER = 2;
    private static final double SLOWER_SECONDS = 0.05;
    private static final double FORGET_QUICKEST = 1.01;
    private static final double BURST_SECONDS = 0.5;
    private static final double MAX_STEP_SECONDS = 5;
    private static final Duration JUDGE = Duration.ofSeconds(1);
    /** What was begun before a fall shall not cause the next. */
    private static final Duration SETTLE = Duration.ofSeconds(2);

    private static final int COLLAPSE = 3;
    private static final double FEWEST_IN_FLIGHT = 1;
    private static final double MORE_IN_FLIGHT = 1;
    /** One call a minute, however long they seem to take: else nobody would find out that they no longer do. */
    private static final double SLOWEST = 1.0 / 60;

    static Ramp none(Instant now) {
        return new Ramp(0, 0, now, Counts.NONE, now, 0, 0, 0, 0, 0, 0);
    }

    /** A few permits that do not accrue. */
    Ramp probes(int calls, Instant now) {
        return new Ramp(0, calls, now, Counts.NONE, now, 0, 0, ceiling, 0, took, inFlight);
    }

    /** A new beginning, which knows where the last one fell. */
    Ramp start(double base, Instant now) {
        return at(Math.max(base, LEAST_BASE) * START, now);
    }

    Ramp at(double newRate, Instant now) {
        return new Ramp(Math.max(newRate, LOWEST), 1, now, Counts.NONE, now, 0, 0, ceiling, 0, took, inFlight);
    }

    /** A beginning under back-pressure, where calls took this long. */
    Ramp throttled(double newRate, double seconds, Instant now) {
        double most = seconds > 0 ? Math.max(FEWEST_IN_FLIGHT, newRate * seconds) : 0;
        Ramp begun = at(newRate, now);
        return new Ramp(begun.rate, 1, now, Counts.NONE, now, 0, 0, ceiling, 0, seconds, most);
    }

    Ramp accrue(Instant now) {
        double pace = pace();
        double grown = permits + pace * Math.max(0, seconds(at, now));
        double most = Math.max(1, pace * BURST_SECONDS);
        Instant until = at.isAfter(now) ? at : now;
        return new Ramp(
                rate, Math.min(grown, most), until, seen, judged, through, quickest, ceiling, falls, took, inFlight);
    }

    /** Calls per second that are let go: by the rate, and by what may be in flight. */
    public double pace() {
        return isFull() ? Math.max(inFlight / took, SLOWEST) : Math.max(rate, LOWEST);
    }

    /** Whether what may be in flight is the tighter of the two. */
    private boolean isFull() {
        return inFlight > 0 && took > 0 && inFlight / took < Math.max(rate, LOWEST);
    }

    Ramp take(int calls) {
        return new Ramp(rate, permits - calls, at, seen, judged, through, quickest, ceiling, falls, took, inFlight);
    }

    /** Judges the rate once a second, when there is evidence. */
    Ramp after(Counts counts, double failureRate, double base, Instant now) {
        double seconds = seconds(judged, now);
        if (seconds < 0) {
            return this;
        }
        Counts all = seen.plus(counts);
        if (all.calls() == 0 || seconds < seconds(JUDGE)) {
            return new Ramp(rate, permits, at, all, judged, through, quickest, ceiling, falls, took, inFlight);
        }
        double share = (double) (all.failures() + all.throttled()) / all.calls();
        if (share >= OVERLOADED) {
            boolean most = (double) all.failures() / all.calls() >= failureRate;
            return fallen(all, share, most ? falls + 1 : Math.max(1, falls), now);
        }
        return moved(all, share, Math.max(base, LEAST_BASE), seconds, now);
    }

    /** What came through before tells what can; what it has come down to now does not. */
    private Ramp fallen(Counts all, double share, int times, Instant now) {
        double recent = took(all);
        double came = through > 0 ? Math.min(rate, through) : rate;
        double next = came * (share >= STEEP_FALL && falls > 0 ? STEEP_FALL : FALL);
        double highest = falls > 0 && ceiling > 0 ? ceiling : came;
        double few = all.throttled() > 0 ? fewer(came * recent) : inFlight;
        return new Ramp(
                Math.max(LOWEST, next),
                0,
                at,
                Counts.NONE,
                now.plus(SETTLE),
                through,
                quickest,
                highest,
                times,
                recent,
                few);
    }

    /** Back-pressure: fewer than there may be, or than there were if that was not limited yet. */
    private double fewer(double were) {
        double before = inFlight > 0 ? Math.min(inFlight, Math.max(were, inFlight * STEEP_FALL)) : were;
        return before > 0 ? Math.max(FEWEST_IN_FLIGHT, before * FALL) : 0;
    }

    private double took(Counts all) {
        if (all.successes() == 0) {
            return took;
        }
        double measured = all.seconds() / all.successes();
        return took == 0 ? measured : took + SWAY * (measured - took);
    }

    private Ramp moved(Counts all, double share, double base, double seconds, Instant now) {
        double measured = all.successes() / seconds;
        double mean = through == 0 ? measured : through + WEIGHT * (measured - through);
        double last = all.seconds() / Math.max(1, all.successes());
        double least = quickest == 0 ? last : Math.min(last, quickest * FORGET_QUICKEST);
        boolean slower = last > SLOWER * least + SLOWER_SECONDS;
        double next = slower && rate >= base * NEAR
                ? Math.max(base * NEAR, rate * EASE)
                : rate * (1 - share) + step(base) * base * Math.min(seconds, MAX_STEP_SECONDS);
        // In one leap only to where it begins to be dangerous.
        double most = rate < ceiling * NEAR ? ceiling * NEAR : TOP * base;
        next = Math.max(LOWEST, Math.min(next, most));
        double highest = next > ceiling * BEYOND ? 0 : ceiling;
        double more = isFull() ? inFlight + MORE_IN_FLIGHT * Math.min(seconds, MAX_STEP_SECONDS) : inFlight;
        return new Ramp(next, permits, at, Counts.NONE, now, mean, least, highest, 0, took(all), more);
    }

    private double step(double base) {
        if (ceiling > 0 && rate >= ceiling * NEAR) {
            return STEP_NEAR_CEILING;
        }
        return rate < base ? STEP_BELOW : STEP_ABOVE;
    }

    /** Whether it is no use: most calls failed time after time, however few they were. */
    boolean collapsed() {
        return falls >= COLLAPSE;
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    private static double seconds(Instant from, Instant to) {
        return seconds(Duration.between(from, to));
    }
}
