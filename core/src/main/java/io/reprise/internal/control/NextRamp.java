// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.internal.control.CallCounts.Counts;
import java.time.Duration;
import java.time.Instant;

/** A mutable copy of a ramp, on which the outcomes of calls change the rate. */
final class NextRamp {

    private static final double GREATEST_STEP = 0.5;
    private static final double GREATEST_STEP_NEAR_CEILING = 1;

    /** Growth per second near a ceiling that was found once, twice, and more often. */
    private static final double[] STEPS_NEAR_CEILING = {0.04, 0.01, 0.005};
    /** Used instead if the ceiling is far below the known rate: then the ceiling is likely to go away. */
    private static final double[] STEPS_FAR_BELOW = {0.16, 0.08, 0.04};

    private static final double FAR_BELOW = 0.5;

    private static final double SAME_CEILING = 1.4;
    private static final double DOUBLE_NEAR_CEILING_SECONDS = 3;
    private static final double BEYOND = 1.6;
    private static final double FALL = 0.8;
    private static final double ALL = 0.9;

    /** If this part of the last failed part fails at a lower rate, the rate is not the cause. */
    private static final double SAME = 0.8;

    private static final double LOWER = 0.95;

    /** After a fall, admission stops for at most this long. */
    private static final double LONGEST_OWED_SECONDS = 5;

    private static final double FORGET_USUAL = 0.1;
    private static final double STEADY = 0.8;
    private static final double HOLD = 0.97;
    private static final double EASE = 0.95;
    private static final double LEAST_EASED = 0.8;
    private static final double SLOWER = 2;

    /** A call that takes longer by less than this is noise. */
    private static final double SLOWER_SECONDS = 0.05;

    /** If fewer calls end than begin as well, so little more is enough: calls queue up at the resource. */
    private static final double QUEUED = 1.15;

    private static final double QUEUED_SECONDS = 0.01;
    private static final double FEWER_END = 0.95;

    private static final int SLOWER_SAMPLES = 10;

    /** If calls differ in length, among fewer of them there may be none of the quick ones. */
    private static final int VARIED_SAMPLES = 20;

    private static final double VARIED = 2;
    private static final double ACCEPT_SLOWER = 1.1;
    private static final double ACCEPT_LONGER = 1.02;
    private static final double DRAIN_SECONDS = 0.1;
    private static final double FORGET_QUICKEST = 1.01;
    private static final double FORGET_BEST = 0.99;
    private static final double FORGET_OUT = 0.98;
    private static final double FORGET_DEAD = 0.9;
    private static final int FEW = 5;
    private static final int MANY = 10;

    /** Outcomes within this time after a fall do not count, because their calls began before it. */
    private static final Duration SETTLE = Duration.ofMillis(1_200);

    private static final Duration SHORT_SETTLE = Duration.ofSeconds(1);
    private static final double LONGEST_SETTLE_SECONDS = 10;
    private static final double KEEPS_UP = 0.85;

    /** An unparked job is claimed a little later, and its end is reported a little later. */
    private static final double LAG_SECONDS = 0.25;

    private static final double LATE_SECONDS = 3;
    private static final double LATE_CALLS = 1.5;

    private final Ramp before;
    double rate;
    double permits;
    double direct;
    Instant asked;
    Instant askedForBacklog;
    Instant at;
    Counts seen;
    int released;
    Instant judged;
    double through;
    double best;
    double quickest;
    double took;
    double ceiling;
    int firm;
    Instant fell;
    int falls;
    int worst;
    double share;
    double load;
    double usual;
    double step;
    double out;
    int late;
    double inFlight;
    double fullest;
    String why;

    NextRamp(Ramp ramp) {
        before = ramp;
        rate = ramp.rate();
        permits = ramp.permits();
        direct = ramp.direct();
        asked = ramp.asked();
        askedForBacklog = ramp.askedForBacklog();
        at = ramp.at();
        seen = ramp.seen();
        released = ramp.released();
        judged = ramp.judged();
        through = ramp.through();
        best = ramp.best();
        quickest = ramp.quickest();
        took = ramp.took();
        ceiling = ramp.ceiling();
        firm = ramp.firm();
        fell = ramp.fell();
        falls = ramp.falls();
        worst = ramp.worst();
        share = ramp.share();
        load = ramp.load();
        usual = ramp.usual();
        step = ramp.step();
        out = ramp.out();
        late = ramp.late();
        inFlight = ramp.inFlight();
        fullest = ramp.fullest();
        why = ramp.why();
    }

    Ramp ramp() {
        return new Ramp(
                rate,
                permits,
                direct,
                asked,
                askedForBacklog,
                at,
                seen,
                released,
                judged,
                through,
                best,
                quickest,
                took,
                ceiling,
                firm,
                fell,
                falls,
                worst,
                share,
                load,
                usual,
                step,
                out,
                late,
                inFlight,
                fullest,
                why);
    }

    /** Begins to collect evidence for the next judgement. */
    void forget(Instant now) {
        seen = Counts.NONE;
        released = 0;
        judged = now;
    }

    void fall(Counts all, double part, double failureRate, RateView known, Instant now) {
        double since = Math.max(Ramp.JUDGE_SECONDS / 2, Ramp.seconds(judged, now));
        double came = Math.min(before.pace(), cameThrough(all, part, since, known));
        boolean again = falls > 0;
        boolean same = again && part < failureRate && isAsBefore(part, all, since);
        took = before.took(all);
        boolean total = part >= ALL;
        if (all.throttled() > 0 && !total) {
            double were = came * took;
            fullest = again && fullest > 0 ? fullest : were;
            inFlight = fewer(were);
        }
        // If all calls fail, the rate is not the cause. If the last calls that succeeded took longer, it is: calls
        // queued up until they failed, and what came through before shows what the resource can serve.
        boolean found = again && ceiling > 0;
        if (isLonger(all) && !found) {
            limit(Math.max(best, came));
        } else if (!total && !found) {
            limit(came);
        }
        rate = Math.max(Ramp.LEAST_RATE, came * (part >= Ramp.STEEP_FALL && again ? Ramp.STEEP_FALL : FALL));
        boolean mostFailed = all.failures() >= failureRate * all.calls() || total;
        worst = mostFailed ? worst + (total && all.calls() >= Ramp.SURE ? Ramp.COLLAPSE : 1) : 0;
        falls++;
        share = part;
        load = all.calls() / since;
        why = percent(part) + " of " + all.calls() + " calls " + reason(all);
        if (same) {
            accept(part);
            rate = Math.max(Ramp.LEAST_RATE, came);
        }
        step = Ramp.FIRST_STEP;
        late = 0;
        permits = owed(all);
        direct = 0;
        fell = now;
        forget(now.plus(callsEnd().compareTo(SETTLE) > 0 ? callsEnd() : SETTLE));
    }

    /** A few calls too many fail: the rate goes back to what comes through. */
    void lean(Counts all, double part, double failureRate, Instant now) {
        double came = before.pace() * (1 - part);
        double since = Math.max(Ramp.JUDGE_SECONDS / 2, Ramp.seconds(judged, now));
        if (falls > 0 && part < failureRate && isAsBefore(part, all, since)) {
            accept(part);
        } else {
            limit(came);
            rate = Math.max(Ramp.LEAST_RATE, came * EASE);
            why = percent(part) + " of " + all.calls() + " calls " + reason(all);
        }
        falls++;
        share = part;
        load = all.calls() / since;
        fell = now;
        took = before.took(all);
        if (all.throttled() > 0) {
            fullest = came * took;
            inFlight = fullest > 0 ? Math.max(Ramp.FEWEST_IN_FLIGHT, fullest) : 0;
        }
        step = Ramp.FIRST_STEP;
        late = 0;
        permits = owed(all);
        direct = 0;
        forget(now.plus(callsEnd().compareTo(SHORT_SETTLE) > 0 ? callsEnd() : SHORT_SETTLE));
    }

    /**
     * Returns the successes per second that the resource can serve. A resource that throttles serves as many as it can.
     * A resource that fails under load may serve fewer now than it could before.
     */
    private double cameThrough(Counts all, double part, double since, RateView known) {
        double now = all.successes() / since;
        // Of long calls that will succeed, few have ended yet.
        if (through == 0 || before.isLong(known)) {
            return before.pace() * (1 - part);
        }
        if (now >= through || all.throttled() > all.failures()) {
            return now;
        }
        return Math.sqrt(Math.max(Ramp.LEAST_RATE, now) * through);
    }

    /** Jobs that were unparked too early. They run whatever the rate is now, so the next unparking is smaller. */
    private double owed(Counts all) {
        double surplus = out - rate * (took + Ramp.JUDGE_SECONDS);
        // A call that was throttled is over: it leaves nothing behind at the resource.
        double most = all.throttled() > all.failures() ? Ramp.JUDGE_SECONDS : LONGEST_OWED_SECONDS;
        return -Math.max(0, Math.min(surplus, rate * most));
    }

    /** Returns whether about the same part fails as at the last fall, although fewer calls are made. */
    private boolean isAsBefore(double part, Counts all, double since) {
        if (all.calls() / since > load * LOWER) {
            return false;
        }
        double chance = Ramp.CHANCE / Math.sqrt(all.calls());
        return part >= Math.max(Ramp.OVERLOADED, share * SAME - chance) && part <= share / SAME + chance;
    }

    /** Returns the approximate time in which calls end that began before the rate fell. */
    private Duration callsEnd() {
        double queued = through > 0 ? Math.min(out / through, 2 * took) : 0;
        return Duration.ofMillis((long) (1000 * Math.min(Math.max(took, queued), LONGEST_SETTLE_SECONDS)));
    }

    /** As many calls fail at a lower rate, so the rate is not the cause. The failed part is accepted as usual. */
    private void accept(double part) {
        usual = Math.max(usual, part);
        ceiling = 0;
        why = percent(part) + " of the calls fail, and as many at a lower rate";
    }

    /**
     * Remembers the rate that the resource cannot exceed. The more often it is found again, the longer it is believed.
     */
    private void limit(double found) {
        boolean same = ceiling > 0 && found < ceiling * SAME_CEILING && found > ceiling / SAME_CEILING;
        firm = same ? firm + 1 : 0;
        ceiling = found;
    }

    private static String reason(Counts all) {
        if (all.throttled() == 0) {
            return "failed";
        }
        return all.failures() == 0 ? "were throttled" : "failed or were throttled";
    }

    /**
     * Returns the limit of calls in flight under back-pressure: below the present limit, or below the calls in flight
     * if there is no limit yet.
     */
    private double fewer(double were) {
        double most = inFlight > 0 ? Math.min(inFlight, were) : were;
        return most > 0 ? Math.max(Ramp.FEWEST_IN_FLIGHT, most * FALL) : 0;
    }

    /** Calls go well enough: the rate grows, holds, or eases because calls take longer. */
    void move(Counts all, double part, RateView known, double since, Instant now) {
        double measured = all.successes() / since;
        through = through == 0 ? measured : through + Ramp.WEIGHT * (measured - through);
        boolean slower = isSlower(all);
        boolean longer = all.successes() >= (isVaried(all) ? VARIED_SAMPLES : FEW) && isLonger(all);
        boolean queued = longer && fewerEnd(all, since);
        took = before.took(all);
        usual = part < usual ? usual + FORGET_USUAL * (part - usual) : usual;
        falls = 0;
        worst = 0;
        best = Math.max(slower ? best : best * FORGET_BEST, through);
        if (slower) {
            ease(all.quickest(), now);
        } else if (queued) {
            hold(measured, all.quickest(), now);
        } else {
            // If calls are long, no call may have ended yet.
            double end = took >= Ramp.PATIENT_SECONDS ? Math.max(through, before.pace()) : through;
            boolean keepsUp = Math.max(end, measured) >= KEEPS_UP * before.pace();
            boolean behind = out > end * (LATE_CALLS * took + LATE_SECONDS) + FEW && !keepsUp;
            late = behind ? late + 1 : 0;
            if (longer && Ramp.seconds(fell, now) < LONGEST_SETTLE_SECONDS) {
                drain(all.quickest(), now);
            } else if (behind) {
                why = "workers do not keep up with what is let go";
            } else if (before.isUsed(since)) {
                // The more calls fail, the less the rate grows.
                double well = Math.max(0, 1 - Math.max(0, part - usual) / Ramp.TOO_MANY);
                if (well > 0) {
                    grow(known, measured, well * Math.min(since, Ramp.PATIENT_SECONDS), now);
                } else {
                    rate = Math.max(Ramp.LEAST_RATE, rate * HOLD);
                    inFlight = inFlight > 0 ? Math.max(Ramp.FEWEST_IN_FLIGHT, inFlight * HOLD) : 0;
                    why = percent(part) + " of " + all.calls() + " calls " + reason(all);
                }
                step = well < STEADY ? Ramp.FIRST_STEP : step;
            } else {
                why = "no more jobs wait than are let go";
            }
        }
        // As many end as begin: what did not end by now, a worker that died has left behind.
        out *= measured >= KEEPS_UP * before.pace() ? FORGET_DEAD : FORGET_OUT;
        forget(now);
    }

    /**
     * Returns whether even the quickest call took longer than it should, because calls queue up at the resource. The
     * mean says less: some calls take longer than others in any case.
     */
    private boolean isSlower(Counts all) {
        if (all.successes() < SLOWER_SAMPLES) {
            return false;
        }
        double last = all.quickest();
        quickest = quickest == 0 ? last : Math.min(last, quickest * FORGET_QUICKEST);
        return last > SLOWER * quickest + SLOWER_SECONDS;
    }

    /** Whether even the quickest call took a little longer than usual. */
    private boolean isLonger(Counts all) {
        return quickest > 0 && all.quickest() > QUEUED * quickest + QUEUED_SECONDS;
    }

    /** Whether the calls differ in length. If they only wait at the resource, they all take longer. */
    private static boolean isVaried(Counts all) {
        return all.seconds() > VARIED * all.quickest() * all.successes();
    }

    /** Whether fewer calls end than begin, by more than chance. */
    private boolean fewerEnd(Counts all, double since) {
        double begin = FEWER_END * before.pace() * since;
        return all.successes() < begin - chance(all.successes());
    }

    /** Returns by how many calls the number of calls that end differs by chance. */
    private static double chance(double calls) {
        return Ramp.CHANCE * Math.sqrt(calls);
    }

    /**
     * Returns about how many calls wait at the resource. All calls that began after the last one that ended are still
     * there. As many less are let go next.
     */
    private double queuedUp(double last) {
        double waiting = before.pace() * last - rate * quickest;
        return Math.min(rate * LONGEST_OWED_SECONDS, Math.max(0, waiting));
    }

    /** Lets a little less go until calls take as long as before the fall. If they do not, the longer time is accepted. */
    private void drain(double last, Instant now) {
        why = "calls still take " + text(last) + ", usually " + text(quickest);
        permits = Math.min(permits, -rate * Math.min(DRAIN_SECONDS, (last - quickest) / 2));
        quickest *= ACCEPT_LONGER;
        step = Ramp.FIRST_STEP;
        fell = now;
    }

    /** Back to what comes through, before calls take much longer. */
    private void hold(double measured, double last, Instant now) {
        if (Ramp.seconds(fell, now) > Ramp.PATIENT_SECONDS) {
            limit(best);
        }
        rate = Math.min(rate, Math.max(Ramp.LEAST_RATE, Math.max(measured, through) * HOLD));
        fell = now;
        step = Ramp.FIRST_STEP;
        late = 0;
        permits = -queuedUp(last);
        direct = 0;
        why = "calls take " + text(last) + ", usually " + text(quickest) + ", and fewer end than begin";
    }

    /** Goes below what comes through. If calls take no less time then, the longer time is accepted. */
    private void ease(double last, Instant now) {
        double least = Math.max(Ramp.LEAST_RATE, best * LEAST_EASED);
        if (rate > least) {
            rate = Math.max(least, Math.min(rate, best) * EASE);
            if (Ramp.seconds(fell, now) > Ramp.PATIENT_SECONDS) {
                limit(best);
            }
            fell = now;
        }
        why = "calls take " + text(last) + ", usually " + text(quickest);
        permits = -queuedUp(last);
        direct = 0;
        quickest *= ACCEPT_SLOWER;
        step = Ramp.FIRST_STEP;
        late = 0;
    }

    private void grow(RateView known, double measured, double seconds, Instant now) {
        boolean full = before.isFull();
        boolean near = ceiling > 0 && rate >= ceiling * Ramp.NEAR;
        double aim = before.quickTo(known);
        // The calls that end now began when the rate was a step lower.
        double began = before.pace() / (1 + step / 2 * Math.min(1, took + LAG_SECONDS));
        double end = Math.max(through, measured);
        double ended = end * seconds;
        // Fewer calls tell nothing.
        boolean fewEnd = before.pace() * seconds >= MANY && ended < KEEPS_UP * began * seconds - chance(ended);
        if (near && fewEnd && !before.isLong(known)) {
            why = "waits until as many calls end as begin";
        } else if (near) {
            rate += moreNearCeiling(known, seconds, now);
            why = "grows slowly near " + round(ceiling) + "/s, where calls failed";
        } else if (rate >= aim && fewEnd) {
            why = "waits until as many calls end as begin";
        } else if (aim == 0) {
            rate = doubled(known, measured, seconds);
            why = "doubles: no earlier rate of " + round(Ramp.FIRST_RATE) + "/s or more is known";
        } else if (rate < aim) {
            rate = Math.min(aim, doubled(known, measured, seconds));
            why = "grows to " + round(aim) + "/s, " + (ceiling > 0 ? "near where calls failed" : "the rate before");
        } else {
            double growth = Math.max(step, Ramp.FIRST_STEP);
            rate += Math.max(rate * growth, oneMore()) * seconds;
            step = Math.min(growth * 2, GREATEST_STEP);
            why = "grows above " + round(known.rate()) + "/s, the rate before";
        }
        rate = Math.min(rate, Ramp.GREATEST_RATE);
        if (ceiling > 0 && rate > ceiling * BEYOND && end > ceiling * SAME_CEILING) {
            forgetCeiling(full);
        }
        if (full) {
            moreInFlight(known, seconds, now);
        }
    }

    /**
     * Returns twice the rate after a second, but not more than twice of what ends: the rest may wait at the resource.
     * Calls that take long began when the rate was lower.
     */
    private double doubled(RateView known, double measured, double seconds) {
        double grown = rate * (1 + seconds);
        double most = 2 * (1 + Math.min(1, took)) * Math.max(through, measured);
        boolean few = before.pace() * seconds < FEW;
        return few || before.isLong(known) ? grown : Math.min(grown, Math.max(rate, most));
    }

    /** Far more comes through than at the ceiling. The limit of calls in flight was found there, so it is over too. */
    private void forgetCeiling(boolean full) {
        ceiling = 0;
        firm = 0;
        inFlight = full ? inFlight : 0;
        fullest = full ? fullest : 0;
    }

    /** Returns the least growth, in calls per second: one more call per second, or in the time of a longer call. */
    private double oneMore() {
        return 1 / Math.max(1, took);
    }

    /** Near a ceiling that was found several times, even one more call is added only now and then. */
    private double moreNearCeiling(RateView known, double seconds, Instant now) {
        double step = nearCeiling(known, Ramp.seconds(fell, now));
        double least = Math.min(rate, oneMore() * step / stepsNearCeiling(known)[0]);
        return Math.max(rate * Math.min(GREATEST_STEP, step * seconds), least * Math.min(1, seconds));
    }

    private void moreInFlight(RateView known, double seconds, Instant now) {
        double near = fullest * Ramp.NEAR;
        // The effect of more calls shows only when they end.
        double clean = Ramp.seconds(fell, now) / Math.max(1, took);
        double more = inFlight < near
                ? Math.min(near, inFlight * (1 + seconds))
                : inFlight + Math.max(1, inFlight * nearCeiling(known, clean)) * Math.min(1, seconds);
        inFlight = more;
        why = "at most " + round(inFlight) + " calls in flight, because of back-pressure";
    }

    private double nearCeiling(RateView known, double clean) {
        double[] steps = stepsNearCeiling(known);
        double first = steps[Math.min(firm, steps.length - 1)];
        return Math.min(
                GREATEST_STEP_NEAR_CEILING, first * Math.pow(2, Math.max(0, clean) / DOUBLE_NEAR_CEILING_SECONDS));
    }

    private double[] stepsNearCeiling(RateView known) {
        return ceiling < known.rate() * FAR_BELOW ? STEPS_FAR_BELOW : STEPS_NEAR_CEILING;
    }

    private static String percent(double part) {
        return Math.round(part * 100) + " %";
    }

    private static String round(double value) {
        return value < 10 ? String.valueOf(Math.round(value * 10) / 10.0) : String.valueOf(Math.round(value));
    }

    private static String text(double seconds) {
        return seconds < 1 ? Math.round(seconds * 1000) + " ms" : round(seconds) + " s";
    }
}
