// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.failure.FailureClass;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * The settings of a breaker: when it opens, and how it comes back. Start from {@link #DEFAULT}. Immutable: each method
 * returns a copy, checks its values at once, and the last call of a method wins.
 *
 * @param enabled whether the resource has a breaker
 * @param counted failure classes that count against the resource; neither PERMANENT nor THROTTLED
 * @param failureRate share of counted failures at which the breaker opens, above 0 and at most 1
 * @param minSamples number of calls in the window below which the share does not count, 1 to 1,000,000
 * @param window how far back the share looks, 1 s to 1 h
 * @param streak number of counted failures in a row, without a success in the whole fleet, at which the breaker opens
 *     at any share; 1 to 1,000,000
 * @param probes number of probes in each interval, one after the other, 1 to 1,000
 * @param firstProbe length of the first interval, 100 ms to 1 h. The first probe is made after 50 to 100 % of it. Each
 *     interval is a tenth longer than the one before
 * @param longestProbe length of the longest interval, {@code firstProbe} to 24 h
 * @param freshShare share of the unparked jobs that is for jobs that came after the trouble, 0 to 0.9. The backlog,
 *     oldest first, has the rest; 0 unparks everything oldest first
 * @param rate calls per second that may start at most in the whole fleet, above 0 and at most 1,000,000; 0 for any
 *     number. Set it by {@code Resource.rate}
 * @since 0.1.0
 */
public record BreakerSettings(
        boolean enabled,
        Set<FailureClass> counted,
        double failureRate,
        int minSamples,
        Duration window,
        int streak,
        int probes,
        Duration firstProbe,
        Duration longestProbe,
        double freshShare,
        double rate) {

    /**
     * The default. Opens when half of at least 20 calls within 10 s failed, or 10 in a row, with class DEPENDENCY_DOWN
     * or TIMEOUT. Makes 3 probes in each interval; the intervals grow from 1 s to 60 s. The fresh share is 0.4.
     */
    public static final BreakerSettings DEFAULT = new BreakerSettings(
            true,
            EnumSet.of(FailureClass.DEPENDENCY_DOWN, FailureClass.TIMEOUT),
            0.5,
            20,
            Duration.ofSeconds(10),
            10,
            3,
            Duration.ofSeconds(1),
            Duration.ofSeconds(60),
            0.4,
            0);

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException if a value is outside its bounds, or {@code counted} contains PERMANENT or
     *     THROTTLED
     */
    public BreakerSettings {
        counted = Set.copyOf(counted);
        if (counted.contains(FailureClass.PERMANENT) || counted.contains(FailureClass.THROTTLED)) {
            throw new IllegalArgumentException("counted must not have PERMANENT, which says nothing about the resource,"
                    + " nor THROTTLED, which limits the rate instead");
        }
        if (!(failureRate > 0 && failureRate <= 1)) {
            throw new IllegalArgumentException("failureRate must be above 0 and at most 1, not " + failureRate);
        }
        Checks.inRange("minSamples", minSamples, 1, 1_000_000);
        Checks.inRange("streak", streak, 1, 1_000_000);
        Checks.inRange("probes", probes, 1, 1_000);
        Checks.inRange("window", window, Duration.ofSeconds(1), Duration.ofHours(1));
        Checks.inRange("firstProbe", firstProbe, Duration.ofMillis(100), Duration.ofHours(1));
        Checks.inRange("longestProbe", longestProbe, firstProbe, Duration.ofHours(24));
        Checks.inRange("freshShare", freshShare, 0, 0.9);
        Checks.inRange("rate", rate, 0, 1_000_000);
    }

    /**
     * Returns settings without a breaker and without a limit on calls in flight. The other values are those of
     * {@link #DEFAULT}.
     */
    public static BreakerSettings off() {
        BreakerSettings d = DEFAULT;
        return new BreakerSettings(
                false,
                d.counted,
                d.failureRate,
                d.minSamples,
                d.window,
                d.streak,
                d.probes,
                d.firstProbe,
                d.longestProbe,
                d.freshShare,
                d.rate);
    }

    /**
     * Sets the failure classes that count against the resource. The default is DEPENDENCY_DOWN and TIMEOUT.
     *
     * @throws IllegalArgumentException if {@code classes} contains PERMANENT or THROTTLED
     */
    public BreakerSettings counted(Set<FailureClass> classes) {
        return new BreakerSettings(
                enabled,
                classes,
                failureRate,
                minSamples,
                window,
                streak,
                probes,
                firstProbe,
                longestProbe,
                freshShare,
                rate);
    }

    /**
     * Opens the breaker at this share of counted failures. The default is 0.5 of at least 20 calls within 10 s.
     *
     * @param share above 0 and at most 1
     * @param samples number of calls in the window below which the share does not count, 1 to 1,000,000
     * @param within length of the window, 1 s to 1 h
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public BreakerSettings opensAt(double share, int samples, Duration within) {
        return new BreakerSettings(
                enabled, counted, share, samples, within, streak, probes, firstProbe, longestProbe, freshShare, rate);
    }

    /**
     * Opens the breaker after this many counted failures in a row, without a success in the whole fleet. The default is
     * 10.
     *
     * @param failuresInARow 1 to 1,000,000
     * @throws IllegalArgumentException if {@code failuresInARow} is outside these bounds
     */
    public BreakerSettings opensAfter(int failuresInARow) {
        return new BreakerSettings(
                enabled,
                counted,
                failureRate,
                minSamples,
                window,
                failuresInARow,
                probes,
                firstProbe,
                longestProbe,
                freshShare,
                rate);
    }

    /**
     * Sets how often probes are made while the breaker is open. One probe is made at a time. The default is 3 probes in
     * each interval, and intervals that grow by a tenth from 1 s to 60 s.
     *
     * @param jobs number of probes in each interval, 1 to 1,000
     * @param first length of the first interval, 100 ms to 1 h
     * @param longest length of the longest interval, {@code first} to 24 h
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public BreakerSettings probes(int jobs, Duration first, Duration longest) {
        return new BreakerSettings(
                enabled, counted, failureRate, minSamples, window, streak, jobs, first, longest, freshShare, rate);
    }

    /**
     * Sets the share of the unparked jobs that is for jobs that came after the trouble. The default is 0.4.
     *
     * @param share 0 to 0.9; 0 unparks everything oldest first
     * @throws IllegalArgumentException if {@code share} is outside these bounds
     */
    public BreakerSettings freshShare(double share) {
        return new BreakerSettings(
                enabled,
                counted,
                failureRate,
                minSamples,
                window,
                streak,
                probes,
                firstProbe,
                longestProbe,
                share,
                rate);
    }

    /**
     * Limits how many calls start in the whole fleet. The default is no limit.
     *
     * @param callsPerSecond above 0 and at most 1,000,000; 0 for any number
     * @throws IllegalArgumentException if {@code callsPerSecond} is outside these bounds
     */
    public BreakerSettings rate(double callsPerSecond) {
        return new BreakerSettings(
                enabled,
                counted,
                failureRate,
                minSamples,
                window,
                streak,
                probes,
                firstProbe,
                longestProbe,
                freshShare,
                callsPerSecond);
    }
}
