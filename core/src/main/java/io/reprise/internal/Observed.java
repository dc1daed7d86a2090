// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.control.Tally;
import io.reprise.control.Tally.Counts;

/** What this worker has seen of one resource and not yet told. Guarded by {@link Control}. */
final class Observed {

    private static final double WEIGHT = 0.3;

    private Counts ordinary = Counts.NONE;
    private Counts admitted = Counts.NONE;
    private int trailing;
    private int parked;
    private double rate;
    private boolean told;

    void ended(Counts outcome, boolean letThrough) {
        if (letThrough) {
            admitted = admitted.plus(outcome);
        } else {
            ordinary = ordinary.plus(outcome);
        }
        trailing = outcome.successes() > 0 ? 0 : trailing + outcome.failures();
    }

    void parked() {
        parked++;
    }

    boolean isTrouble() {
        return ordinary.failures() + ordinary.throttled() + admitted.failures() + admitted.throttled() > 0;
    }

    boolean isNothing() {
        return ordinary.equals(Counts.NONE) && admitted.equals(Counts.NONE) && parked == 0 && (told || rate == 0);
    }

    /** Whether it can be forgotten: nothing to tell, and too little happens to remember it. */
    boolean isIdle() {
        return ordinary.equals(Counts.NONE) && admitted.equals(Counts.NONE) && parked == 0 && rate < 0.01;
    }

    /** What there is to tell; it counts as told, with the rate, unless it is given back. */
    Tally take() {
        Tally tally = new Tally(ordinary, admitted, trailing, parked, told ? 0 : rate);
        ordinary = Counts.NONE;
        admitted = Counts.NONE;
        trailing = 0;
        parked = 0;
        told = true;
        return tally;
    }

    void giveBack(Tally tally) {
        ordinary = ordinary.plus(tally.ordinary());
        admitted = admitted.plus(tally.admitted());
        trailing += ordinary.successes() + admitted.successes() > 0 ? 0 : tally.trailing();
        parked += tally.parked();
        told = tally.rate() == 0;
    }

    /** Measures how fast all goes well; an interval with failures, or in which jobs were parked, says nothing about that. */
    void measure(double seconds) {
        if (!isTrouble() && parked == 0 && seconds > 0) {
            double measured = (ordinary.successes() + admitted.successes()) / seconds;
            rate = rate == 0 ? measured : rate + WEIGHT * (measured - rate);
        }
    }

    /** Nobody wants to know: starts counting anew, and would tell its rate again. */
    void forget() {
        ordinary = Counts.NONE;
        admitted = Counts.NONE;
        trailing = 0;
        parked = 0;
        told = false;
    }
}
