// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.control.Tally.Counts;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The rate at which a breaker lets parked jobs go after trouble. While calls succeed the rate grows until workers or the
 * resource bound it:
 *
 * <ul>
 *   <li>up to the rate that was known before the trouble it doubles every second;
 *   <li>above that it grows by 5 % a second, then 10 %, and so on, up to 50 % a second;
 *   <li>near the rate at which calls last failed it grows by 4 % a second, or half a percent if they failed there time after
 *       time, and twice as fast every three seconds.
 * </ul>
 *
 * <p>It falls only for a reason that {@link #why} names: calls fail, are throttled, or take longer than before. If calls fail
 * or take longer at a lower rate all the same, the rate is not the cause, and it stops falling.
 *
 * <p>Back-pressure also limits how many calls are in flight at once. By Little's law that is a limit on their rate: so many
 * calls, divided by how long one takes. Nobody counts what runs, so a worker that dies leaves no count behind.
 *
 * @param rate calls per second that may start in the whole fleet
 * @param permits parked jobs that may be let go now
 * @param direct jobs that are not parked and may start now: workers that claim such take them from here
 * @param asked when a worker last did
 * @param at up to when permits have accrued
 * @param seen outcomes since the rate was last judged
 * @param released jobs that were let go since then
 * @param judged when that was; it lies ahead after a fall, because earlier outcomes belong to the earlier rate
 * @param through successes per second, smoothed
 * @param best the most of these, slowly forgotten
 * @param quickest seconds that a quick call takes when nothing is wrong; 0 if not known
 * @param took seconds that a call takes now; 0 if not known
 * @param ceiling what came through when it last fell; 0 if it never fell or the rate is well beyond that
 * @param firm how often in a row about the same ceiling was found again
 * @param fell when it last fell
 * @param falls judgements in a row that let it fall
 * @param worst those of them in a row in which most calls failed; more if nearly all of many did
 * @param share failed and throttled part of the calls at the last fall
 * @param load calls per second at the last fall
 * @param usual the part that fails whatever the rate is
 * @param step growth per second above the known rate
 * @param out jobs that were let go and have not ended, about
 * @param late judgements in a row in which workers did not keep up with what was let go
 * @param inFlight calls that may be in flight at once; 0 if there was no back-pressure
 * @param fullest calls in flight when back-pressure was last felt; 0 if never
 * @param why what bounds the rate now, in words
 */
public record Ramp(
        double rate,
        double permits,
        double direct,
        Instant asked,
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

    /** Where a ramp begins, as a part of the known rate. */
    static final double START = 0.4;

    /** Where it begins if no rate is known, in calls per second. */
    static final double FIRST_RATE = 5;
    /** If no rate is known, it begins at least at this part of the calls that were made when the trouble was noticed. */
    static final double START_OF_TRIED = 0.1;

    static final double LEAST_RATE = 1;
    static final double GREATEST_RATE = 1e7;
    static final double FIRST_STEP = 0.05;

    static final double NEAR = 0.9;

    /** More failures than that are not usual. */
    static final double OVERLOADED = 0.1;
    /** So many are, if there are many calls. */
    static final double TOO_MANY = 0.05;
    /** What chance may add to that, for one call; the more calls, the less. */
    static final double CHANCE = 0.5;

    static final double STEEP_FALL = 0.5;
    static final int SURE = 10;
    static final int COLLAPSE = 3;

    static final double WEIGHT = 0.5;

    private static final double BURST_SECONDS = 0.5;
    /** So long after a worker asked, some calls are kept for such. */
    private static final Duration ASKED = Duration.ofSeconds(2);

    static final double JUDGE_SECONDS = 1;
    static final double PATIENT_SECONDS = 3;
    private static final double LONGEST_CALL_SECONDS = 60;
    private static final int PLENTY = 50;

    private static final double USED = 0.7;
    private static final int SATURATED = 3;

    static final double FEWEST_IN_FLIGHT = 1;
    /** One call a minute, however long they seem to take: else nobody would find out that they no longer do. */
    private static final double SLOWEST = 1.0 / 60;

    static Ramp none(Instant now) {
        return new Ramp(
                0,
                0,
                0,
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

    /** A few permits that do not accrue. */
    Ramp probes(int calls, Instant now) {
        RampDraft draft = fresh(now);
        draft.permits = calls;
        return draft.ramp();
    }

    /** A new beginning, which knows what was done before the trouble and where the last ramp fell. */
    Ramp start(Flow known, Instant now) {
        double unknown = Math.max(FIRST_RATE, known.tried() * START_OF_TRIED);
        double least = known.rate() > 0 ? Math.min(known.rate(), FIRST_RATE) : unknown;
        double most = ceiling > 0 ? ceiling * NEAR : GREATEST_RATE;
        RampDraft draft = fresh(now);
        draft.rate = Math.max(LEAST_RATE, Math.min(most, Math.max(known.rate() * START, least)));
        draft.permits = 1;
        draft.quickest = known.quickest();
        draft.why = known.rate() > 0 ? "begins at 40 % of the known rate" : "begins slowly: no earlier rate is known";
        return draft.ramp();
    }

    /** A beginning under back-pressure, where calls took this long. */
    Ramp throttled(double newRate, double seconds, Flow known, Instant now) {
        RampDraft draft = fresh(now);
        draft.rate = Math.max(newRate, LEAST_RATE);
        draft.permits = 1;
        draft.quickest = known.quickest();
        draft.took = seconds;
        draft.inFlight = seconds > 0 ? Math.max(FEWEST_IN_FLIGHT, newRate * seconds) : 0;
        draft.fullest = draft.inFlight;
        draft.why = "calls were throttled";
        return draft.ramp();
    }

    private RampDraft fresh(Instant now) {
        RampDraft draft = new RampDraft(none(now));
        draft.ceiling = ceiling;
        draft.firm = firm;
        draft.fell = fell;
        draft.took = took;
        draft.inFlight = inFlight;
        draft.fullest = fullest;
        draft.usual = usual;
        return draft;
    }

    /** Calls per second that are let go: by the rate, and by what may be in flight. */
    public double pace() {
        return isFull() ? Math.max(inFlight / took, SLOWEST) : Math.max(rate, LEAST_RATE);
    }

    /** Whether what may be in flight is the tighter of the two. */
    boolean isFull() {
        return inFlight > 0 && took > 0 && inFlight / took < Math.max(rate, LEAST_RATE);
    }

    /** Later: permits accrue; and below the known rate it grows although no call has ended yet, for calls may take long. */
    Ramp accrue(Flow known, double directShare, Instant now) {
        RampDraft draft = new RampDraft(this);
        double pace = pace();
        double grown = pace * Math.max(0, seconds(at, now));
        double share = isAsked(now) ? directShare : 0;
        double room = mostDirect(share) - direct;
        double more = Math.max(0, Math.min(grown * share, room));
        draft.direct = direct + more;
        draft.permits = Math.min(permits + grown - more, Math.max(1, pace * BURST_SECONDS));
        draft.at = at.isAfter(now) ? at : now;
        double since = seconds(judged, now);
        if (seen.calls() == 0 && falls == 0 && since >= JUDGE_SECONDS && rate < known.rate() && isUsed(since)) {
            draft.rate = Math.min(known.rate(), rate * 2);
            if (ceiling > 0 && draft.rate > ceiling * NEAR) {
                draft.rate = Math.max(rate, ceiling * NEAR);
            }
            draft.forget(now);
        }
        return draft.ramp();
    }

    Ramp take(int calls) {
        RampDraft draft = new RampDraft(this);
        draft.permits -= calls;
        draft.released += calls;
        draft.out = Math.max(0, out + calls);
        return draft.ramp();
    }

    /** Whether workers claim jobs that are not parked. */
    private boolean isAsked(Instant now) {
        return now.isBefore(asked.plus(ASKED));
    }

    private double mostDirect(double share) {
        return Math.max(1, pace() * share * BURST_SECONDS);
    }

    /** The part of this share that workers take, about: what they leave piles up. */
    double directUse(double share, Instant now) {
        return isAsked(now) ? share * (1 - Math.min(1, direct / mostDirect(share))) : 0;
    }

    /** After a worker asked for this many and got this many, less those that it does not need after all. */
    Ramp pass(int wanted, int jobs, Instant now) {
        RampDraft draft = new RampDraft(take(jobs));
        draft.permits = permits;
        draft.direct -= jobs;
        draft.asked = wanted > 0 ? now : asked;
        return draft.ramp();
    }

    /** After these outcomes: judges the rate about once a second, when there is evidence. */
    Ramp after(Counts counts, double failureRate, Flow known, Instant now) {
        RampDraft draft = new RampDraft(this);
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
            // It may be chance: more calls tell.
            return draft.ramp();
        } else if (isQuick(known) || since >= Math.min(took(all), LONGEST_CALL_SECONDS)) {
            draft.move(all, part, known, since, now);
        }
        return draft.ramp();
    }

    /** Calls of which these are the outcomes. Long calls that succeed end later than those that are refused at once. */
    private double made(Counts all, Flow known) {
        return isLong(known) ? Math.max(all.calls(), released) : all.calls();
    }

    boolean isLong(Flow known) {
        return Math.max(took, known.quickest()) >= PATIENT_SECONDS;
    }

    /** Whether there is evidence: of a second, of half a second if there is plenty, of three if there is little. */
    private boolean isEnough(Counts all, double since) {
        if (since >= PATIENT_SECONDS) {
            return all.calls() > 0;
        }
        return since >= JUDGE_SECONDS ? all.calls() > 1 : since >= JUDGE_SECONDS / 2 && all.calls() >= PLENTY;
    }

    /** Whether it grows to what it could do before, and need not wait for calls to end. */
    private boolean isQuick(Flow known) {
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

    /** Whether it is no use: most calls failed, or nearly all were throttled, time after time, however few they were. */
    boolean collapsed() {
        return worst >= COLLAPSE;
    }

    /** Whether workers and not the resource set the pace: all goes well, and what is let go waits for them. */
    boolean saturated(Flow known) {
        return late >= SATURATED && through >= known.rate() * STEEP_FALL;
    }

    /** The rate to which it grows quickly; null if it is there already, or if no rate is known. */
    public @Nullable Double aim(Flow known) {
        double aim = quickTo(known);
        return rate < aim ? aim : null;
    }

    /** Up to this rate it doubles: nearly to where calls last failed, or to the known rate; 0 for as long as calls succeed. */
    double quickTo(Flow known) {
        // Less than a ramp begins with says little: the fleet may have been seen for a moment only.
        double worthKnowing = known.rate() < FIRST_RATE ? 0 : known.rate();
        return ceiling > 0 ? ceiling * NEAR : worthKnowing;
    }

    /** About how long it takes to let so many jobs go: at the present pace, or at one that grows to the aim. */
    public Duration timeFor(long jobs, Flow known) {
        double pace = pace();
        double aim = isFull() ? pace : Math.max(pace, quickTo(known));
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
