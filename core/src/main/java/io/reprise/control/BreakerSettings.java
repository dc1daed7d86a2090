// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.retry.FailureClass;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * When the breaker of a resource opens and how it finds its way back. Immutable: each method returns a copy, and refuses
 * a bad value at once.
 *
 * @param enabled whether the resource has a breaker at all
 * @param counted the failure classes that speak against the resource
 * @param failureRate share of counted failures, above 0 to 1, at which it opens
 * @param minSamples calls within the window before the share means anything
 * @param window how far back the share looks
 * @param streak counted failures in a row, without a success in the whole fleet, at which it opens whatever the share
 * @param probes jobs let through in each interval, one after the other, to see whether the resource is back
 * @param firstProbe how long after it opened the first probe follows, and the first interval; each is a tenth longer
 * @param longestProbe the longest time in which so many probes follow each other
 * @param freshShare while parked jobs are let go, the share of them that goes to jobs that have come since the resource is back, 0
 *     to 0.9; the backlog, oldest first, has the rest. 0 lets all go oldest first
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
        double freshShare) {

    /** Half of at least 20 calls in 10 s, or 10 in a row; 3 probes after 1 s, then ever more rarely down to every 60 s. */
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
            0.4);

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
    }

    /** No breaker and no limit for this resource. */
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
                d.freshShare);
    }

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
                freshShare);
    }

    /** Opens at this share of counted failures among at least so many calls in the window. */
    public BreakerSettings opensAt(double rate, int samples, Duration within) {
        return new BreakerSettings(
                enabled, counted, rate, samples, within, streak, probes, firstProbe, longestProbe, freshShare);
    }

    /** Opens after so many counted failures without a success between them. */
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
                freshShare);
    }

    /** Lets so many jobs through at a time; the first time after {@code first}, later after up to {@code longest}. */
    public BreakerSettings probes(int jobs, Duration first, Duration longest) {
        return new BreakerSettings(
                enabled, counted, failureRate, minSamples, window, streak, jobs, first, longest, freshShare);
    }

    /** Gives this share of what is let go to jobs that have come since the resource is back; 0 for oldest first. */
    public BreakerSettings freshShare(double share) {
        return new BreakerSettings(
                enabled, counted, failureRate, minSamples, window, streak, probes, firstProbe, longestProbe, share);
    }
}
