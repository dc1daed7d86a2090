// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.control.ForcedBy;
import io.reprise.internal.control.CallCounts.Counts;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The circuit breaker of one resource, for the whole fleet. Immutable: each method returns the next state.
 *
 * <p>CLOSED lets every job run. Failures open the breaker, and jobs are parked. When a probe is due, the breaker is
 * HALF_OPEN and admits one. If the probe fails, the breaker opens again, for longer. If it succeeds, the breaker is
 * RAMPING: it admits jobs at a rate that grows while they succeed. It closes when no job is parked any more, or when
 * the workers and not the resource set the pace. Back-pressure leads from CLOSED directly to RAMPING.
 *
 * @param phase the phase
 * @param since when the breaker entered the phase
 * @param why why it entered the phase, in words; may be empty
 * @param window outcomes of the recent past, counted while CLOSED
 * @param streak counted failures in a row, without a success in the whole fleet, counted while CLOSED
 * @param flow rate and speed of calls before the trouble
 * @param interval time in which {@link BreakerSettings#probes} probes are made
 * @param nextProbe when the next probe is due; without meaning in CLOSED and RAMPING
 * @param waiting number of probes that were admitted and have not ended
 * @param failed when the resource was last known to be in trouble; jobs that are due later are fresh work
 * @param ramp rate and permits, used while HALF_OPEN and RAMPING
 * @param heard when a worker last reported that it uses this breaker
 * @param force the person who keeps the breaker open or closed; null if nobody does
 * @since 0.1.0
 */
public record Breaker(
        BreakerPhase phase,
        Instant since,
        String why,
        CallWindow window,
        int streak,
        RateView flow,
        Duration interval,
        Instant nextProbe,
        int waiting,
        Instant failed,
        Ramp ramp,
        Instant heard,
        @Nullable ForcedBy force) {

    private static final String KEEPS_RATE = "keeps the rate that is set";

    private static final int LEAST_THROTTLED = 5;
    private static final double THROTTLED_SHARE = 0.1;
    private static final double THROTTLED_START = 0.7;
    /** A report is of the last second or so. */
    private static final double LEAST_MEASURED_SECONDS = 1;

    private static final double WELL = 0.1;

    private static final Duration SHORTEST_RAMP = Duration.ofSeconds(2);

    /** After a fall and this long without a call, nothing shows that the fall is over, so the ramp may close. */
    private static final Duration QUIET = Duration.ofSeconds(30);

    /** A worker that uses the breaker reports so this often. */
    private static final Duration REPORT_INTERVAL = Duration.ofSeconds(5);

    /** Part of the fresh share that is for jobs that are not parked. */
    private static final double DIRECT = 0.75;

    /**
     * Part of the rate that is for jobs that are not parked, while workers claim such jobs of the backlog. A claim takes
     * few unparked jobs beside those, and what it takes and may not run costs a parking, an unparking and a second claim.
     */
    private static final double DIRECT_BACKLOG = 0.9;

    /** After this time without a report, no worker uses the breaker any more. */
    private static final Duration UNUSED_AFTER = Duration.ofSeconds(15);
    /** A probe that takes longer than this, and than a few calls, is lost. */
    private static final Duration LOST = Duration.ofSeconds(10);

    private static final double PROBE_CALLS = 3;
    /** Calls that take longer are no measure, in seconds. */
    private static final double LONG_CALL = 3600;
    /** So long after it opened, every worker knows that it is open. */
    private static final Duration NOTICED = Duration.ofSeconds(1);

    /** Returns a new breaker: CLOSED, with nothing counted. */
    public static Breaker closed(Instant now) {
        return new Breaker(
                BreakerPhase.CLOSED,
                now,
                "",
                CallWindow.empty(now),
                0,
                RateView.UNKNOWN,
                Duration.ZERO,
                now,
                0,
                now,
                Ramp.none(now),
                now,
                null);
    }

    /** Returns whether a job may run only if the breaker admits it: true in every phase but CLOSED. */
    public boolean holds() {
        return phase != BreakerPhase.CLOSED;
    }

    /**
     * Returns the breaker after the report of one worker. A forced breaker keeps its phase.
     *
     * @param tally outcomes that the worker saw since its last report
     * @param random spreads the time of the next probe
     */
    public Breaker after(CallCounts tally, BreakerSettings settings, Instant now, RandomGenerator random) {
        Breaker told = with(flow.plus(tally.rate(), tally.quickest())).heard(now);
        if (force != null) {
            return told;
        }
        return switch (phase) {
            case CLOSED -> told.count(tally, settings, now, random);
            case OPEN -> told.noticed(tally.all(), now);
            case HALF_OPEN -> told.judge(tally.admitted(), settings, now, random);
            case RAMPING -> told.climb(tally.admitted(), settings, now, random);
        };
    }

    /**
     * Returns the breaker at a later time. A ramp gets more permits, and an open breaker admits a probe when it is due.
     * A forced breaker stays as it is.
     */
    public Breaker at(BreakerSettings settings, Instant now) {
        if (force != null) {
            return this;
        }
        return switch (phase) {
            case CLOSED -> settings.rate() > 0 ? keepsRate(settings, now) : this;
            case RAMPING -> with(ramp.accrue(flow, directShare(settings, now), most(settings), now));
            case OPEN -> rests(settings, now) ? this : halfOpen(settings, now);
            case HALF_OPEN -> probing(settings, now);
        };
    }

    /** A resource with a rate is never quite closed: it always lets jobs go at that rate. */
    private Breaker keepsRate(BreakerSettings settings, Instant now) {
        return enter(BreakerPhase.RAMPING, KEEPS_RATE, now).with(ramp.fixed(settings.rate(), flow, now));
    }

    private static double most(BreakerSettings settings) {
        return settings.rate() > 0 ? settings.rate() : Ramp.GREATEST_RATE;
    }

    /** Returns whether somebody who knew a rate that is set has made this breaker keep it. */
    boolean isOfRate() {
        return phase == BreakerPhase.RAMPING && why.equals(KEEPS_RATE);
    }

    /** Returns whether a rate that is set, and no trouble, holds jobs back. */
    boolean isAtItsRate(BreakerSettings settings) {
        return settings.rate() > 0
                && phase == BreakerPhase.RAMPING
                && force == null
                && ramp.falls() == 0
                && ramp.rate() >= settings.rate();
    }

    /**
     * Admits another probe if the last does not end in time, or if there is neither a probe nor a permit for one. If
     * none of the probes of an interval ends, they are forgotten and the breaker begins with a new probe.
     */
    private Breaker probing(BreakerSettings settings, Instant now) {
        boolean none = waiting == 0 && permits() == 0;
        if ((waiting == 0 && !none) || rests(settings, now)) {
            return this;
        }
        if (waiting < settings.probes()) {
            return with(ramp.probes(1, now)).rest(interval, now.plus(between(settings)));
        }
        if (now.isBefore(since.plus(patience(settings)))) {
            return this;
        }
        Duration twice = interval.multipliedBy(2);
        Duration longest = settings.longestProbe();
        return rest(twice.compareTo(longest) < 0 ? twice : longest, now).halfOpen(settings, now);
    }

    /** Probes that have not ended after this time died with their worker. Each time that happens, the next are rarer. */
    private Duration patience(BreakerSettings settings) {
        Duration calls = Duration.ofMillis((long) (PROBE_CALLS * 1000 * Math.min(LONG_CALL, flow.quickest())));
        Duration least = calls.compareTo(LOST) > 0 ? calls : LOST;
        Duration wanted = least.compareTo(interval) > 0 ? least : interval;
        Duration longest = settings.longestProbe();
        return wanted.compareTo(longest) < 0 ? wanted : longest;
    }

    /** Returns whether the breaker is open by itself and its next probe is not due yet. */
    public boolean rests(Instant now) {
        return phase == BreakerPhase.OPEN && force == null && now.isBefore(nextProbe);
    }

    /** A rest longer than the settings allow comes from a clock that was wrong, and is taken to be over. */
    private boolean rests(BreakerSettings settings, Instant now) {
        Duration left = Duration.between(now, nextProbe);
        Duration first = settings.firstProbe();
        Duration longest = settings.longestProbe();
        return left.compareTo(Duration.ZERO) > 0 && left.compareTo(first.compareTo(longest) > 0 ? first : longest) <= 0;
    }

    /** Returns how many parked jobs may be unparked now; 0 while CLOSED or OPEN. */
    public int permits() {
        return phase == BreakerPhase.HALF_OPEN || phase == BreakerPhase.RAMPING
                ? (int) Math.max(0, Math.floor(ramp.permits() + 1e-9))
                : 0;
    }

    /**
     * Returns the breaker after parked jobs were unparked.
     *
     * @param jobs number of jobs; a negative number gives back permits for which no parked job was found. While
     *     HALF_OPEN, no more are given back than were taken: a late worker may give back what this probing never gave
     */
    public Breaker letThrough(int jobs) {
        if (phase != BreakerPhase.HALF_OPEN) {
            return with(ramp.take(jobs));
        }
        int taken = Math.max(jobs, -waiting);
        return with(ramp.take(taken)).waiting(waiting + taken);
    }

    /**
     * The answer of {@link #pass}.
     *
     * @param breaker the breaker after the answer
     * @param jobs number of jobs that the worker may run now, unused ones included
     */
    public record Passed(Breaker breaker, int jobs) {}

    /**
     * Admits jobs that a worker claims and that are not parked, so that they need not be parked first. Admits none
     * unless the breaker is RAMPING and not forced.
     *
     * @param wanted number of jobs that the worker asks for
     * @param unused number of jobs that were admitted earlier and that the worker has not run yet
     * @param backlog whether some of the jobs {@linkplain #isBacklog waited already in the trouble}
     */
    public Passed pass(int wanted, int unused, boolean backlog, BreakerSettings settings, Instant now) {
        if (phase != BreakerPhase.RAMPING || force != null) {
            return new Passed(this, 0);
        }
        Ramp later = ramp.accrue(flow, directShare(settings, now), most(settings), now);
        int jobs = Math.min(wanted, (int) Math.max(0, Math.floor(later.direct() + unused + 1e-9)));
        return new Passed(with(later.pass(wanted, jobs - unused, backlog, now)), jobs);
    }

    /** Returns whether a job that is due at this time waited already in the trouble, so that it is no fresh job. */
    boolean isBacklog(Instant due) {
        return due.isBefore(failed);
    }

    /**
     * Most of the share of fresh jobs is for jobs that are not parked, because these cost the least. If they are of the
     * backlog, they have most of its share too. Permits that are owed after a fall are paid first.
     */
    private double directShare(BreakerSettings settings, Instant now) {
        double fresh = DIRECT * settings.freshShare();
        boolean backlog = fresh > 0 && ramp.permits() >= 0 && ramp.isAskedForBacklog(now);
        return backlog ? Math.max(fresh, DIRECT_BACKLOG) : fresh;
    }

    /**
     * Returns the share of fresh jobs among the jobs to be unparked. Together with fresh jobs that were never parked,
     * they have the share that the settings say. 0 unless RAMPING, or if only a set rate holds jobs back.
     */
    public double freshShare(BreakerSettings settings, Instant now) {
        if (phase != BreakerPhase.RAMPING || isAtItsRate(settings)) {
            return 0;
        }
        if (ramp.isAskedForBacklog(now)) {
            return settings.freshShare();
        }
        double direct = ramp.directUse(directShare(settings, now), now);
        return (settings.freshShare() - direct) / (1 - direct);
    }

    /**
     * Returns the breaker after no parked job was found. A ramp closes, unless it is younger than 2 s, is forced, or
     * fell within the last 30 s.
     */
    public Breaker drained(Instant now) {
        // Without calls, no success can show that the last fall is over.
        boolean quiet = ramp.falls() == 0 || !now.isBefore(ramp.judged().plus(QUIET));
        boolean ready = phase == BreakerPhase.RAMPING && quiet && !now.isBefore(since.plus(SHORTEST_RAMP));
        return ready && force == null ? enter(BreakerPhase.CLOSED, "nothing is parked any more", now) : this;
    }

    /**
     * Returns the breaker kept open or closed by a person, until {@link #automatic}. Reports and time do not change its
     * phase.
     */
    public Breaker forced(boolean open, ForcedBy by, Instant now) {
        String text = (open ? "kept open by " : "kept closed by ") + by.by();
        return enter(
                        open ? BreakerPhase.OPEN : BreakerPhase.CLOSED,
                        by.why() == null ? text : text + ": " + by.why(),
                        now)
                .force(by);
    }

    /**
     * Returns the breaker without force. If it is open, a probe is due at once. Returns this breaker if it is not
     * forced.
     */
    public Breaker automatic(Instant now) {
        if (force == null) {
            return this;
        }
        return enter(phase, "left to itself", now).rest(Duration.ZERO, now).force(null);
    }

    /**
     * Returns whether a worker that uses the breaker should report so again: 5 s have passed since the last such
     * report.
     */
    public boolean isUnheard(Instant now) {
        return holds() && !now.isBefore(heard.plus(REPORT_INTERVAL));
    }

    /** Returns whether no worker uses the breaker any more: none has reported for 15 s, and nobody forces it. */
    public boolean isForgotten(Instant now) {
        return force == null && !now.isBefore(heard.plus(UNUSED_AFTER));
    }

    /** Returns the breaker after a worker reported that it uses it. */
    public Breaker heard(Instant now) {
        return new Breaker(
                phase, since, why, window, streak, flow, interval, nextProbe, waiting, failed, ramp, now, force);
    }

    /**
     * Returns whether the breaker equals a new one in effect: CLOSED, not forced, and without recent trouble. Then it
     * can be deleted.
     */
    public boolean isAtRest(BreakerSettings settings, Instant now) {
        return phase == BreakerPhase.CLOSED
                && force == null
                && !now.isBefore(window.start().plus(settings.window().multipliedBy(2)));
    }

    private Breaker count(CallCounts tally, BreakerSettings settings, Instant now, RandomGenerator random) {
        Counts all = tally.all();
        int inARow = all.successes() > 0 ? tally.trailing() : streak + all.failures();
        // Successes alone do not renew the window. So an old window shows that the breaker is at rest.
        boolean trouble = all.failures() > 0 || all.throttled() > 0;
        CallWindow grown = trouble || window.total().calls() > 0 ? window.plus(all, settings.window(), now) : window;
        Counts total = grown.total();
        double tried = total.calls() / grown.seconds(settings.window(), now);
        Breaker counted = new Breaker(
                phase,
                since,
                why,
                grown,
                inARow,
                measured(grown, now),
                interval,
                nextProbe,
                waiting,
                failed,
                ramp,
                heard,
                force);
        double share = (double) total.failures() / Math.max(1, total.calls());
        if (inARow >= settings.streak()) {
            return counted.with(counted.flow.tried(tried)).open(settings, inARow + " failures in a row", now, random);
        }
        if (total.calls() >= settings.minSamples() && share >= settings.failureRate()) {
            String text = total.failures() + " of " + total.calls() + " calls failed within " + settings.window();
            return counted.with(counted.flow.tried(tried)).open(settings, text, now, random);
        }
        if (total.throttled() >= LEAST_THROTTLED && total.throttled() >= THROTTLED_SHARE * total.calls()) {
            double took = total.seconds() / Math.max(1, total.successes());
            // Long calls that began together end together. So a rate is measured over the time of a call at least.
            double seconds = Math.max(Math.max(LEAST_MEASURED_SECONDS, took), grown.seconds(settings.window(), now));
            RateView known = flow.atLeast(total.successes() / seconds);
            String text = total.throttled() + " of " + total.calls() + " calls were throttled";
            return counted.enter(BreakerPhase.RAMPING, text, now)
                    .with(known)
                    .with(ramp.throttled(known.rate() * THROTTLED_START, took, known, now));
        }
        return counted;
    }

    /** Calls that were begun before their worker knew that it is open. */
    private Breaker noticed(Counts calls, Instant now) {
        return now.isBefore(since.plus(NOTICED)) ? with(flow.tried(flow.tried() + calls.calls())) : this;
    }

    /** The known rate, raised whenever half a window has passed in which nearly all went well. */
    private RateView measured(CallWindow grown, Instant now) {
        Counts half = window.younger();
        boolean well = half.successes() > 0 && half.failures() + half.throttled() <= half.successes() * WELL;
        double seconds = Duration.between(window.start(), now).toNanos() / 1e9;
        double took = half.seconds() / Math.max(1, half.successes());
        return grown.start().equals(window.start()) || !well
                ? flow
                : flow.atLeast(half.successes() / Math.max(seconds, took));
    }

    private Breaker judge(Counts probes, BreakerSettings settings, Instant now, RandomGenerator random) {
        if (probes.successes() > 0) {
            return enter(BreakerPhase.RAMPING, "a probe came through", now).with(ramp.start(flow, now));
        }
        int bad = probes.failures() + probes.throttled();
        int left = Math.max(0, waiting - bad - probes.others());
        if (bad > 0) {
            Breaker opened = again(settings, now, random);
            // Other probes may never end, for instance because their jobs expired. Probes become rarer all the same.
            return left == 0 ? opened : waiting(left).rest(opened.interval, opened.nextProbe);
        }
        // A probe that ended without evidence about the resource is replaced by another.
        return waiting(left).with(ramp.take(-probes.others()));
    }

    private Breaker climb(Counts counts, BreakerSettings settings, Instant now, RandomGenerator random) {
        Ramp moved = ramp.after(counts, settings.failureRate(), flow, now);
        if (moved.collapsed()) {
            // The next ramp knows the limit that this one has just found.
            return with(moved).open(settings, "it failed again while it was let through slowly", now, random);
        }
        if (settings.rate() > 0) {
            // Once at its rate, only failures lower it: calls that take long are no reason.
            return with(isAtItsRate(settings) && moved.falls() == 0 ? ramp.keeping(moved) : moved);
        }
        Breaker climbed = with(moved);
        return moved.saturated(flow)
                ? climbed.enter(BreakerPhase.CLOSED, "calls succeed as fast as workers make them", now)
                : climbed;
    }

    private Breaker open(BreakerSettings settings, String text, Instant now, RandomGenerator random) {
        Duration first = settings.firstProbe();
        return enter(BreakerPhase.OPEN, text, now).rest(first, now.plus(jittered(first, random)));
    }

    /**
     * Opens again after a failed probe. The interval grows by a tenth for each {@link BreakerSettings#probes} failed
     * probes.
     */
    private Breaker again(BreakerSettings settings, Instant now, RandomGenerator random) {
        Duration grown = interval.plus(interval.dividedBy(10L * settings.probes()));
        Duration least = settings.firstProbe();
        Duration most = settings.longestProbe();
        Duration longer = grown.compareTo(least) < 0 ? least : grown.compareTo(most) < 0 ? grown : most;
        Breaker opened = enter(BreakerPhase.OPEN, "the probes failed", now).rest(longer, now);
        return opened.rest(longer, now.plus(jittered(opened.between(settings), random)));
    }

    /** Returns 50 to 100 % of the rest, so that breakers that opened together do not probe together. */
    private static Duration jittered(Duration rest, RandomGenerator random) {
        double part = 0.5 + random.nextDouble() / 2;
        return Duration.ofNanos((long) (rest.toNanos() * part));
    }

    /** Returns the time from one probe to the next. */
    private Duration between(BreakerSettings settings) {
        return interval.dividedBy(settings.probes());
    }

    private Breaker halfOpen(BreakerSettings settings, Instant now) {
        return enter(BreakerPhase.HALF_OPEN, why, now)
                .with(ramp.probes(1, now))
                .rest(interval, now.plus(between(settings)));
    }

    private Breaker enter(BreakerPhase next, String text, Instant now) {
        Ramp rested = next == BreakerPhase.CLOSED ? Ramp.none(now) : ramp.probes(0, now);
        Instant last = next == BreakerPhase.OPEN || (phase == BreakerPhase.CLOSED && next == BreakerPhase.RAMPING)
                ? now
                : failed;
        RateView kept = phase == BreakerPhase.RAMPING && !ramp.isLong(flow) ? flow.atLeast(ramp.through()) : flow;
        return new Breaker(
                next, now, text, CallWindow.empty(now), 0, kept, interval, nextProbe, 0, last, rested, heard, force);
    }

    private Breaker with(RateView changed) {
        return new Breaker(
                phase, since, why, window, streak, changed, interval, nextProbe, waiting, failed, ramp, heard, force);
    }

    private Breaker with(Ramp changed) {
        return new Breaker(
                phase, since, why, window, streak, flow, interval, nextProbe, waiting, failed, changed, heard, force);
    }

    private Breaker waiting(int probes) {
        return new Breaker(
                phase, since, why, window, streak, flow, interval, nextProbe, probes, failed, ramp, heard, force);
    }

    private Breaker rest(Duration length, Instant until) {
        return new Breaker(phase, since, why, window, streak, flow, length, until, waiting, failed, ramp, heard, force);
    }

    private Breaker force(@Nullable ForcedBy by) {
        return new Breaker(
                phase, since, why, window, streak, flow, interval, nextProbe, waiting, failed, ramp, heard, by);
    }

    /** Returns the text that is stored, one field per line. */
    public String text() {
        Counts older = window.older();
        Counts younger = window.younger();
        return new StateText()
                .put("phase", phase)
                .put("since", since)
                .put("why", why)
                .put("window", window.start())
                .put("older", counts(older))
                .put("younger", counts(younger))
                .put("streak", streak)
                .put("known", flow.rate())
                .put("knownQuickest", flow.quickest())
                .put("tried", flow.tried())
                .put("interval", interval)
                .put("nextProbe", nextProbe)
                .put("waiting", waiting)
                .put("failed", failed)
                .put("rate", ramp.rate())
                .put("permits", ramp.permits())
                .put("direct", ramp.direct())
                .put("asked", ramp.asked())
                .put("askedForBacklog", ramp.askedForBacklog())
                .put("accrued", ramp.at())
                .put("seen", counts(ramp.seen()))
                .put("released", ramp.released())
                .put("judged", ramp.judged())
                .put("through", ramp.through())
                .put("best", ramp.best())
                .put("quickest", ramp.quickest())
                .put("took", ramp.took())
                .put("ceiling", ramp.ceiling())
                .put("firm", ramp.firm())
                .put("fell", ramp.fell())
                .put("falls", ramp.falls())
                .put("worst", ramp.worst())
                .put("share", ramp.share())
                .put("load", ramp.load())
                .put("usual", ramp.usual())
                .put("step", ramp.step())
                .put("out", ramp.out())
                .put("late", ramp.late())
                .put("inFlight", ramp.inFlight())
                .put("fullest", ramp.fullest())
                .put("bound", ramp.why())
                .put("heard", heard)
                .put("forcedBy", force == null ? null : force.by())
                .put("forcedWhy", force == null ? null : force.why())
                .toString();
    }

    /**
     * Reads the text that {@link #text} returns. A missing or unreadable field has its default. An unknown phase is
     * read as OPEN with a probe due. A time too far in the future, from before the store's clock was set back, is read
     * as now.
     */
    public static Breaker parse(String text, Instant now) {
        StateText fields = StateText.parse(text);
        String by = fields.text("forcedBy");
        Duration interval = fields.duration("interval", Duration.ZERO);
        return new Breaker(
                phase(fields.text("phase", "")),
                fields.past("since", now),
                fields.text("why", ""),
                new CallWindow(
                        fields.past("window", now),
                        counts(fields.text("older", "")),
                        counts(fields.text("younger", ""))),
                fields.integer("streak"),
                new RateView(fields.number("known"), fields.number("knownQuickest"), fields.number("tried")),
                interval,
                fields.within("nextProbe", interval, now),
                fields.integer("waiting"),
                fields.past("failed", now),
                new Ramp(
                        fields.number("rate"),
                        fields.number("permits"),
                        fields.number("direct"),
                        fields.past("asked", now),
                        fields.past("askedForBacklog", now),
                        fields.past("accrued", now),
                        counts(fields.text("seen", "")),
                        fields.integer("released"),
                        fields.past("judged", now),
                        fields.number("through"),
                        fields.number("best"),
                        fields.number("quickest"),
                        fields.number("took"),
                        fields.number("ceiling"),
                        fields.integer("firm"),
                        fields.past("fell", now),
                        fields.integer("falls"),
                        fields.integer("worst"),
                        fields.number("share"),
                        fields.number("load"),
                        fields.number("usual"),
                        fields.number("step"),
                        fields.number("out"),
                        fields.integer("late"),
                        fields.number("inFlight"),
                        fields.number("fullest"),
                        fields.text("bound", "")),
                fields.past("heard", now, Instant.EPOCH),
                by == null ? null : new ForcedBy(by, fields.text("forcedWhy")));
    }

    private static BreakerPhase phase(String name) {
        for (BreakerPhase phase : BreakerPhase.values()) {
            if (phase.name().equals(name)) {
                return phase;
            }
        }
        return BreakerPhase.OPEN;
    }

    private static String counts(Counts counts) {
        return counts.successes() + "," + counts.failures() + "," + counts.throttled() + "," + counts.others() + ","
                + counts.seconds() + "," + counts.quickest();
    }

    private static Counts counts(String text) {
        String[] parts = text.split(",", -1);
        try {
            return parts.length == 6
                    ? new Counts(
                            Integer.parseInt(parts[0]),
                            Integer.parseInt(parts[1]),
                            Integer.parseInt(parts[2]),
                            Integer.parseInt(parts[3]),
                            Double.parseDouble(parts[4]),
                            Double.parseDouble(parts[5]))
                    : Counts.NONE;
        } catch (NumberFormatException unreadable) {
            return Counts.NONE;
        }
    }
}
