// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.internal.control.CallCounts.Counts;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The rate at which a breaker admits jobs after trouble. While calls succeed, the rate grows until the workers or the
 * resource bound it:
 *
 * <ul>
 *   <li>up to the rate before the trouble, it doubles every second;
 *   <li>above that rate, it grows by 5 % a second, then 10 %, and so on, up to 50 % a second;
 *   <li>near the rate at which calls last failed, it grows by 4 % a second, and twice as fast every three seconds. If calls
 *       failed there several times, it begins with half a percent.
 * </ul>
 *
 * <p>The rate falls only for a reason that {@link #why} names: calls fail, are throttled, or take longer than before.
 * If as many calls fail or take as long at a lower rate, the rate is not the cause, and it stops falling.
 *
 * <p>Back-pressure also limits how many calls are in flight at once. By Little's law that is a limit on the rate: the
 * number of calls, divided by the time of one call. No worker counts running calls, so a worker that dies leaves no
 * wrong count behind.
 *
 * <p>Immutable: each method returns the next state.
 *
 * @param rate calls per second that may start in the whole fleet
 * @param permits number of parked jobs that may be unparked now
 * @param direct number of jobs that are not parked and may start now; workers that claim such jobs take permits from
 *     here
 * @param asked when a worker last asked for such permits
 * @param askedForBacklog when a worker last asked for such permits for jobs that waited already in the trouble
 * @param at time up to which permits have been added
 * @param seen outcomes since the rate was last judged
 * @param released number of jobs that were admitted since then
 * @param judged when the rate was last judged; after a fall it lies ahead, because earlier outcomes belong to the
 *     earlier rate
 * @param through successes per second, smoothed
 * @param best greatest value of {@code through}, slowly forgotten
 * @param quickest seconds that a quick call takes when all is well; 0 if not known
 * @param took seconds that a call takes now; 0 if not known
 * @param ceiling successes per second at the last fall; 0 if the rate never fell or is far above that now
 * @param firm how often in a row about the same ceiling was found again
 * @param fell when the rate last fell
 * @param falls number of judgements in a row that let the rate fall
 * @param worst number of those in a row in which most calls failed; more if nearly all of many calls failed
 * @param share failed and throttled part of the calls at the last fall
 * @param load calls per second at the last fall
 * @param usual part of the calls that fails at any rate
 * @param step growth per second above the known rate
 * @param out approximate number of jobs that were admitted and have not ended
 * @param late number of judgements in a row in which the workers did not keep up with the admitted jobs
 * @param inFlight number of calls that may be in flight at once; 0 if there was no back-pressure
 * @param fullest number of calls in flight at the last back-pressure; 0 if there was none
 * @param why what bounds the rate now, in words
 * @since 0.1.0
 */
public record Ramp(
        double rate,
        double permits,
        double direct,
        Instant asked,
        Instant askedForBacklog,
        Instant at,
        Counts seen,
        int released,
        Instant judged,
        double through,
        double best,
        double quickest,
        double took,
        double ceiling,
        int firm,
        Instant fell,
        int falls,
        int worst,
        double share,
        double load,
        double usual,
        double step,
        double out,
        int late,
        double inFlight,
        double fullest,
        String why) {

    /** A ramp begins at this part of the known rate. */
    static final double START = 0.4;

    /** A ramp begins at this rate if no rate is known, in calls per second. */
    static final double FIRST_RATE = 5;
    /** If no rate is known, it begins at least at this part of the calls that were made when the trouble was noticed. */
    static final double START_OF_TRIED = 0.1;

    static final double LEAST_RATE = 1;
    static final double GREATEST_RATE = 1e7;
    static final double FIRST_STEP = 0.05;

    /** From this part of the ceiling on, the rate is near the ceiling. */
    static final double NEAR = 0.9;

    /** If a greater part of the calls fails, the rate falls. */
    static final double OVERLOADED = 0.1;

    /** If a greater part of many calls fails, the rate goes back to what comes through. */
    static final double TOO_MANY = 0.05;

    /** Chance may add this much to the failed part of a single call, and less the more calls there are. */
    static final double CHANCE = 0.5;

    static final double STEEP_FALL = 0.5;
    static final int SURE = 10;
    static final int COLLAPSE = 3;

    static final double WEIGHT = 0.5;

    private static final double BURST_SECONDS = 0.5;

    /** Admitted jobs that have not ended after this many times the length of a call wait for workers. */
    private static final double CALLS_OUT = 1.5;

    /** For this long after a worker asked for direct permits, a part of the rate is kept for them. */
    private static final Duration ASKED = Duration.ofSeconds(2);

    static final double JUDGE_SECONDS = 1;
    static final double PATIENT_SECONDS = 3;
    private static final double LONGEST_CALL_SECONDS = 60;
    private static final int PLENTY = 50;

    private static final double USED = 0.7;
    private static final int SATURATED = 3;

    static final double FEWEST_IN_FLIGHT = 1;

    /** At least one call a minute is admitted. Otherwise nothing would show that calls have become quicker. */
    private static final double SLOWEST = 1.0 / 60;

    /** Why a ramp that keeps a set rate is at that rate. */
    private static final String SET = "the rate that is set";

    static Ramp none(Instant now) {
        return new Ramp(
                0,
                0,
                0,
                now.minus(ASKED),
                now.minus(ASKED),
                now,
                Counts.NONE,
                0,
                now,
                0,
                0,
                0,
                0,
                0,
                0,
                now,
                0,
                0,
                0,
                0,
                0,
                FIRST_STEP,
                0,
                0,
                0,
                0,
                "");
    }

    /** Returns a ramp that only holds permits for probes. */
    Ramp probes(int calls, Instant now) {
        NextRamp draft = fresh(now);
        draft.permits = calls;
        return draft.ramp();
    }

    /** Returns a ramp at its start. It knows the rate before the trouble, and the rate at which the last ramp fell. */
    Ramp start(RateView known, Instant now) {
        double unknown = Math.max(FIRST_RATE, known.tried() * START_OF_TRIED);
        double least = known.rate() > 0 ? Math.min(known.rate(), FIRST_RATE) : unknown;
        double most = ceiling > 0 ? ceiling * NEAR : GREATEST_RATE;
        NextRamp draft = fresh(now);
        draft.rate = Math.max(LEAST_RATE, Math.min(most, Math.max(known.rate() * START, least)));
        draft.permits = 1;
        draft.quickest = known.quickest();
        draft.why = known.rate() > 0 ? "begins at 40 % of the known rate" : "begins slowly: no earlier rate is known";
        return draft.ramp();
    }

    /**
     * Returns a ramp at its start under back-pressure.
     *
     * @param seconds time that a call took
     */
    Ramp throttled(double newRate, double seconds, RateView known, Instant now) {
        NextRamp draft = fresh(now);
        draft.rate = Math.max(newRate, LEAST_RATE);
        draft.permits = 1;
        draft.quickest = known.quickest();
        draft.took = seconds;
        draft.inFlight = seconds > 0 ? Math.max(FEWEST_IN_FLIGHT, newRate * seconds) : 0;
        draft.fullest = draft.inFlight;
        draft.why = "calls were throttled";
        return draft.ramp();
    }

    /** Returns a ramp that lets go at a rate which is set. */
    Ramp fixed(double set, RateView known, Instant now) {
        NextRamp draft = fresh(now);
        draft.rate = set;
        draft.permits = 1;
        draft.quickest = known.quickest();
        draft.why = SET;
        return draft.ramp();
    }

    /** Returns what a judgement has learned, with rate and permits as they are here. */
    Ramp keeping(Ramp judged) {
        NextRamp draft = new NextRamp(judged);
        draft.rate = rate;
        draft.permits = permits;
        draft.direct = direct;
        draft.inFlight = 0;
        draft.late = 0;
        draft.why = SET;
        return draft.ramp();
    }

    private NextRamp fresh(Instant now) {
        NextRamp draft = new NextRamp(none(now));
        draft.ceiling = ceiling;
        draft.firm = firm;
        draft.fell = fell;
        draft.took = took;
        draft.inFlight = inFlight;
        draft.fullest = fullest;
        draft.usual = usual;
        return draft;
    }

    /** Returns the calls per second that are admitted: the rate, or less if the calls in flight are limited. */
    public double pace() {
        return isFull() ? Math.max(inFlight / took, SLOWEST) : Math.max(rate, LEAST_RATE);
    }

    /** Returns the calls per second that are really admitted. A rate that is set may be lower than a ramp ever goes. */
    public double admitted() {
        return rate > 0 ? Math.min(pace(), rate) : pace();
    }

    /** Returns whether the limit on calls in flight is tighter than the rate. */
    boolean isFull() {
        return inFlight > 0 && took > 0 && inFlight / took < Math.max(rate, LEAST_RATE);
    }

    /**
     * Returns the ramp at a later time, with more permits. Below the known rate it also grows before any call has
     * ended, because calls may take long.
     */
    Ramp accrue(RateView known, double directShare, Instant now) {
        return accrue(known, directShare, GREATEST_RATE, now);
    }

    /**
     * Returns the ramp at a later time, with more permits.
     *
     * @param most calls per second that are let go at most
     */
    Ramp accrue(RateView known, double directShare, double most, Instant now) {
        NextRamp draft = new NextRamp(this);
        boolean set = why.equals(SET) && most < GREATEST_RATE;
        draft.rate = set ? most : Math.min(rate, most);
        double pace = set ? most : Math.min(pace(), most);
        double grown = pace * Math.max(0, seconds(at, now));
        double share = isAsked(now) ? directShare : 0;
        double room = mostDirect(share) - direct;
        double more = Math.max(0, Math.min(grown * share, room));
        draft.direct = direct + more;
        double taken = isWaitedFor(known) ? grown * share : more;
        draft.permits = Math.min(permits + grown - taken, Math.max(1, pace * BURST_SECONDS));
        draft.at = at.isAfter(now) ? at : now;
        double since = seconds(judged, now);
        if (seen.calls() == 0 && falls == 0 && since >= JUDGE_SECONDS && rate < known.rate() && isUsed(since)) {
            draft.rate = Math.min(known.rate(), rate * 2);
            if (ceiling > 0 && draft.rate > ceiling * NEAR) {
                draft.rate = Math.max(rate, ceiling * NEAR);
            }
            draft.forget(now);
        }
        draft.rate = Math.min(draft.rate, most);
        return draft.ramp();
    }

    Ramp take(int calls) {
        NextRamp draft = new NextRamp(this);
        draft.permits -= calls;
        draft.released += calls;
        draft.out = Math.max(0, out + calls);
        return draft.ramp();
    }

    /** Returns whether workers claim jobs that are not parked. */
    private boolean isAsked(Instant now) {
        return now.isBefore(asked.plus(ASKED));
    }

    /** Returns whether workers claim jobs of the backlog that are not parked. */
    boolean isAskedForBacklog(Instant now) {
        return now.isBefore(askedForBacklog.plus(ASKED));
    }

    /**
     * Returns whether admitted jobs already wait for workers. To unpark more of them then only takes time from the jobs
     * that workers claim, and these cost less.
     */
    private boolean isWaitedFor(RateView known) {
        return out > pace() * (CALLS_OUT * Math.max(took, known.quickest()) + BURST_SECONDS);
    }

    private double mostDirect(double share) {
        return Math.max(1, pace() * share * BURST_SECONDS);
    }

    /** Returns the approximate part of the share that workers use. Unused permits pile up in {@link #direct}. */
    double directUse(double share, Instant now) {
        return isAsked(now) ? share * (1 - Math.min(1, direct / mostDirect(share))) : 0;
    }

    /**
     * Returns the ramp after a worker asked for direct permits.
     *
     * @param wanted number of jobs that the worker asked for
     * @param jobs number that it got, less those that it gave back unused
     * @param backlog whether some of the jobs waited already in the trouble
     */
    Ramp pass(int wanted, int jobs, boolean backlog, Instant now) {
        NextRamp draft = new NextRamp(take(jobs));
        draft.permits = permits;
        draft.direct -= jobs;
        draft.asked = wanted > 0 ? now : asked;
        draft.askedForBacklog = wanted > 0 && backlog ? now : askedForBacklog;
        return draft.ramp();
    }

    /** Returns the ramp after these outcomes. It judges the rate about once a second, if there is evidence. */
    Ramp after(Counts counts, double failureRate, RateView known, Instant now) {
        NextRamp draft = new NextRamp(this);
        draft.out = Math.max(0, out - counts.calls() - counts.others());
        double since = seconds(judged, now);
        if (since < 0) {
            return draft.ramp();
        }
        Counts all = seen.plus(counts);
        draft.seen = all;
        if (!isEnough(all, since)) {
            return draft.ramp();
        }
        int bad = all.failures() + all.throttled();
        double part = (double) bad / made(all, known);
        if (bad > 0 && all.calls() < SURE && since < PATIENT_SECONDS) {
            return draft.ramp();
        }
        boolean tooMany = part >= TOO_MANY + usual;
        if (bad > 1 && part >= OVERLOADED + usual + CHANCE / Math.sqrt(all.calls())) {
            draft.fall(all, part, failureRate, known, now);
        } else if (tooMany && bad > 1 && (all.calls() >= PLENTY || since >= PATIENT_SECONDS)) {
            draft.lean(all, part, failureRate, now);
        } else if (tooMany && since < PATIENT_SECONDS) {
            // It may be chance. More calls give the answer.
            return draft.ramp();
        } else if (isQuick(known) || since >= Math.min(took(all), LONGEST_CALL_SECONDS)) {
            draft.move(all, part, known, since, now);
        }
        return draft.ramp();
    }

    /**
     * Returns the number of calls that the outcomes belong to. Long calls that succeed end later than calls that are
     * refused at once, so all admitted jobs count if calls are long.
     */
    private double made(Counts all, RateView known) {
        return isLong(known) ? Math.max(all.calls(), released) : all.calls();
    }

    boolean isLong(RateView known) {
        return Math.max(took, known.quickest()) >= PATIENT_SECONDS;
    }

    /**
     * Returns whether there is enough evidence: of one second, of half a second if calls are many, or of three if they
     * are few.
     */
    private boolean isEnough(Counts all, double since) {
        if (since >= PATIENT_SECONDS) {
            return all.calls() > 0;
        }
        return since >= JUDGE_SECONDS ? all.calls() > 1 : since >= JUDGE_SECONDS / 2 && all.calls() >= PLENTY;
    }

    /** Returns whether the rate grows towards an earlier rate. Then it need not wait for calls to end. */
    private boolean isQuick(RateView known) {
        return rate < known.rate() || (isFull() && inFlight < fullest * NEAR);
    }

    boolean isUsed(double since) {
        return released >= USED * pace() * since - 1;
    }

    double took(Counts all) {
        if (all.successes() == 0) {
            return took;
        }
        double measured = all.seconds() / all.successes();
        return took == 0 ? measured : took + WEIGHT * (measured - took);
    }

    /**
     * Returns whether the ramp has failed: in several judgements in a row most calls failed, or nearly all were
     * throttled.
     */
    boolean collapsed() {
        return worst >= COLLAPSE;
    }

    /**
     * Returns whether the workers and not the resource set the pace: calls succeed, and admitted jobs wait for workers.
     */
    boolean saturated(RateView known) {
        return late >= SATURATED && through >= known.rate() * STEEP_FALL;
    }

    /** Returns the rate to which this ramp grows quickly; null if it is there already, or if no rate is known. */
    public @Nullable Double aim(RateView known) {
        double aim = quickTo(known);
        return rate < aim && !why.equals(SET) ? aim : null;
    }

    /**
     * Returns the rate up to which the ramp doubles: just below the ceiling, or the known rate. 0 if there is neither;
     * then it doubles as long as calls succeed.
     */
    double quickTo(RateView known) {
        // A known rate below the first rate says little: the fleet may have been measured for a moment only.
        double worthKnowing = known.rate() < FIRST_RATE ? 0 : known.rate();
        return ceiling > 0 ? ceiling * NEAR : worthKnowing;
    }

    /** Estimates the time until this many jobs are admitted, at the present pace or at a pace that grows to the aim. */
    public Duration timeFor(long jobs, RateView known) {
        double pace = admitted();
        double aim = isFull() || why.equals(SET) ? pace : Math.max(pace, quickTo(known));
        double growing = Math.log(aim / pace) / Math.log(2);
        double whileGrowing = (aim - pace) / Math.log(2);
        double seconds = jobs < whileGrowing
                ? Math.log(1 + jobs * Math.log(2) / pace) / Math.log(2)
                : growing + (jobs - whileGrowing) / aim;
        return Duration.ofMillis((long) (1000 * seconds));
    }

    static double seconds(Instant from, Instant to) {
        return Duration.between(from, to).toNanos() / 1e9;
    }
}
