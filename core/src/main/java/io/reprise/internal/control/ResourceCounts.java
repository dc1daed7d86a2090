// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.internal.control.CallCounts.Counts;

/**
 * This worker's counts for one resource that are not reported yet, and its success rate. {@link LocalControl} guards it:
 * handler threads and the committer add outcomes, the {@code ControlSync} takes the counts.
 */
final class ResourceCounts {

    private static final double WEIGHT = 0.3;
    private static final double MEMORY_SECONDS = 10;
    /** Calls that begin together end together. So the memory must span several calls. */
    private static final double MEMORY_CALLS = 4;

    private Counts ordinary = Counts.NONE;
    private Counts admitted = Counts.NONE;
    /** Outcomes since the rate was last measured. */
    private Counts measured = Counts.NONE;

    private int trailing;
    private double successes;
    private double measuredSeconds;
    private double rate;
    private double took;
    private double quickest;
    private boolean told;

    void ended(Counts outcome, boolean letThrough) {
        if (letThrough) {
            admitted = admitted.plus(outcome);
        } else {
            ordinary = ordinary.plus(outcome);
        }
        measured = measured.plus(outcome);
        trailing = outcome.successes() > 0 ? 0 : trailing + outcome.failures();
    }

    boolean isTrouble() {
        return ordinary.failures() + ordinary.throttled() + admitted.failures() + admitted.throttled() > 0;
    }

    boolean isNothing() {
        return ordinary.equals(Counts.NONE) && admitted.equals(Counts.NONE) && (told || rate == 0);
    }

    /** Whether it can be dropped: it has nothing to report, and its rate is negligible. */
    boolean isIdle() {
        return ordinary.equals(Counts.NONE) && admitted.equals(Counts.NONE) && rate < 0.01;
    }

    /** Takes the counts to report. Counts and rate then count as reported, unless {@link #giveBack} returns them. */
    CallCounts take() {
        CallCounts tally = new CallCounts(ordinary, admitted, trailing, told ? 0 : rate, told ? 0 : quickest);
        ordinary = Counts.NONE;
        admitted = Counts.NONE;
        trailing = 0;
        told = true;
        return tally;
    }

    void giveBack(CallCounts tally) {
        ordinary = ordinary.plus(tally.ordinary());
        admitted = admitted.plus(tally.admitted());
        trailing += ordinary.successes() + admitted.successes() > 0 ? 0 : tally.trailing();
        told = tally.rate() == 0;
    }

    /**
     * Measures the rate of successes. It skips intervals with failures, and intervals in which a breaker held jobs
     * back: neither shows the normal rate.
     */
    void measure(double seconds, boolean held) {
        if (measured.failures() + measured.throttled() == 0 && !held && seconds > 0) {
            if (measured.successes() > 0) {
                double mean = measured.seconds() / measured.successes();
                took = took == 0 ? mean : took + WEIGHT * (mean - took);
            }
            double kept = Math.exp(-seconds / Math.max(MEMORY_SECONDS, MEMORY_CALLS * took));
            successes = successes * kept + measured.successes();
            measuredSeconds = measuredSeconds * kept + seconds;
            rate = successes / measuredSeconds;
            if (measured.successes() > 0) {
                double least = measured.quickest();
                quickest = quickest == 0 ? least : quickest + WEIGHT * (least - quickest);
            }
        }
        measured = Counts.NONE;
    }

    /** Drops the counts, because nothing holds jobs of the resource. A later report sends the rate again. */
    void forget() {
        ordinary = Counts.NONE;
        admitted = Counts.NONE;
        trailing = 0;
        told = false;
    }
}
