// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.control.Tally.Counts;
import java.time.Duration;
import java.time.Instant;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The circuit breaker of one resource, for the whole fleet.
 *
 * <p>CLOSED lets everything run. Failures open it: jobs are parked. After a while it is HALF_OPEN and lets a probe through; if
 * it fails the breaker opens again, for longer, and if it succeeds the breaker is RAMPING: jobs are let through at a rate
 * that grows while they succeed. It closes when none is parked any more, or when workers and not the resource set the pace.
 * Back-pressure leads from CLOSED straight to RAMPING.
 *
 * @param since when it entered its phase
 * @param why what made it do so, in words
 * @param interval the time in which as many probes follow each other as the settings say
 * @param nextProbe when the next one follows; of no meaning unless OPEN or HALF_OPEN
 * @param waiting probes that were let through and have not ended
 * @param failed when it was last known to be in trouble: what came later is fresh work
 * @param heard when a worker that goes by this breaker last said so
 * @param force set while a person keeps it open or closed
 */
public record Breaker(
        Phase phase,
        Instant since,
        String why,
        Window window,
        int streak,
        Flow flow,
        Duration interval,
        Instant nextProbe,
        int waiting,
        Instant failed,
        Ramp ramp,
        Instant heard,
        @Nullable Force force) {

    /** Where a breaker stands. */
    public enum Phase {
        CLOSED,
        OPEN,
        HALF_OPEN,
        RAMPING
    }

    /** Who keeps a breaker where it is, and why. */
    public record Force(String by, @Nullable String why) {}

    private static final int LEAST_THROTTLED = 5;
    private static final double THROTTLED_SHARE = 0.1;
    private static final double THROTTLED_START = 0.7;
    /** A report is of the last second or so. */
    private static final double LEAST_MEASURED_SECONDS = 1;

    private static final double WELL = 0.1;
    private static final Duration SHORTEST_RAMP = Duration.ofSeconds(2);
    private static final Duration QUIET = Duration.ofSeconds(30);
    private static final Duration SAY_AGAIN = Duration.ofSeconds(5);
    private static final double DIRECT = 0.75;
    private static final Duration FORGOTTEN = Duration.ofSeconds(15);
    /** A probe that takes longer than this, and than a few calls, is lost. */
    private static final Duration LOST = Duration.ofSeconds(10);

    private static final double PROBE_CALLS = 3;
    /** Calls that take longer are no measure, in seconds. */
    private static final double LONG_CALL = 3600;
    /** So long after it opened, every worker knows that it is open. */
    private static final Duration NOTICED = Duration.ofSeconds(1);

    public static Breaker closed(Instant now) {
        return new Breaker(
                Phase.CLOSED,
                now,
                "",
                Window.empty(now),
                0,
                Flow.UNKNOWN,
                Duration.ZERO,
                now,
                0,
                now,
                Ramp.none(now),
                now,
                null);
    }

    /** Whether jobs must be let through to run. */
    public boolean holds() {
        return phase != Phase.CLOSED;
    }

    /** After a worker's report. */
    public Breaker after(Tally tally, BreakerSettings settings, Instant now, RandomGenerator random) {
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

    /** The same later: permits accrue, and the time for probes comes. */
    public Breaker at(BreakerSettings settings, Instant now) {
        if (force != null) {
            return this;
        }
        return switch (phase) {
            case CLOSED -> this;
            case RAMPING -> with(ramp.accrue(flow, directShare(settings), now));
            case OPEN -> rests(settings, now) ? this : halfOpen(settings, now);
            case HALF_OPEN -> probing(settings, now);
        };
    }

    /** A probe that does not end is followed by another, and those that never end are forgotten. */
    private Breaker probing(BreakerSettings settings, Instant now) {
        if (waiting == 0 || rests(settings, now)) {
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

    /** Whether it is open and no probe has been let through since. */
    public boolean rests(Instant now) {
        return phase == Phase.OPEN && force == null && now.isBefore(nextProbe);
    }

    /** A rest that is longer than any comes from a clock that was wrong. */
    private boolean rests(BreakerSettings settings, Instant now) {
        Duration left = Duration.between(now, nextProbe);
        Duration first = settings.firstProbe();
        Duration longest = settings.longestProbe();
        return left.compareTo(Duration.ZERO) > 0 && left.compareTo(first.compareTo(longest) > 0 ? first : longest) <= 0;
    }

    /** How many parked jobs may be let through now. */
    public int permits() {
        return phase == Phase.HALF_OPEN || phase == Phase.RAMPING
                ? (int) Math.max(0, Math.floor(ramp.permits() + 1e-9))
                : 0;
    }

    /** After so many were let through; negative gives back what found no job. */
    public Breaker letThrough(int jobs) {
        return phase == Phase.HALF_OPEN ? with(ramp.take(jobs)).waiting(waiting + jobs) : with(ramp.take(jobs));
    }

    /** A breaker after jobs that are not parked were let through, and how many they are. */
    public record Passed(Breaker breaker, int jobs) {}

    /** Lets a worker run some of the jobs that it claims and that are not parked: then they need not be parked first. */
    public Passed pass(int wanted, int unused, BreakerSettings settings, Instant now) {
        if (phase != Phase.RAMPING || force != null) {
            return new Passed(this, 0);
        }
        Ramp later = ramp.accrue(flow, directShare(settings), now);
        int jobs = Math.min(wanted, (int) Math.max(0, Math.floor(later.direct() + unused + 1e-9)));
        return new Passed(with(later.pass(wanted, jobs - unused, now)), jobs);
    }

    /** Most of the share of fresh jobs is for those that are not parked: they cost the least. */
    private static double directShare(BreakerSettings settings) {
        return DIRECT * settings.freshShare();
    }

    /** The share of fresh jobs among those that were parked, so that both together have the share that is set. */
    public double freshShare(BreakerSettings settings, Instant now) {
        if (phase != Phase.RAMPING) {
            return 0;
        }
        double direct = ramp.directUse(directShare(settings), now);
        return (settings.freshShare() - direct) / (1 - direct);
    }

    /** After nothing was found parked any more. */
    public Breaker drained(Instant now) {
        // Where no call comes any more, none will show that the last fall is over.
        boolean quiet = ramp.falls() == 0 || !now.isBefore(ramp.judged().plus(QUIET));
        boolean ready = phase == Phase.RAMPING && quiet && !now.isBefore(since.plus(SHORTEST_RAMP));
        return ready && force == null ? enter(Phase.CLOSED, "nothing is parked any more", now) : this;
    }

    /** Kept open or closed from now on, whatever happens. */
    public Breaker forced(boolean open, Force by, Instant now) {
        String text = (open ? "kept open by " : "kept closed by ") + by.by();
        return enter(open ? Phase.OPEN : Phase.CLOSED, by.why() == null ? text : text + ": " + by.why(), now)
                .force(by);
    }

    /** Left to itself again: if it is open, the first probes follow at once. */
    public Breaker automatic(Instant now) {
        if (force == null) {
            return this;
        }
        return enter(phase, "left to itself", now).rest(Duration.ZERO, now).force(null);
    }

    /** Whether a worker that goes by it should say so again. */
    public boolean isUnheard(Instant now) {
        return holds() && !now.isBefore(heard.plus(SAY_AGAIN));
    }

    /** Whether no worker goes by it any more: all have switched it off. */
    public boolean isForgotten(Instant now) {
        return force == null && !now.isBefore(heard.plus(FORGOTTEN));
    }

    /** A worker goes by it. */
    public Breaker heard(Instant now) {
        return new Breaker(
                phase, since, why, window, streak, flow, interval, nextProbe, waiting, failed, ramp, now, force);
    }

    /** Whether it stands as one that never was would: nothing is lost if it is forgotten. */
    public boolean isAtRest(BreakerSettings settings, Instant now) {
        return phase == Phase.CLOSED
                && force == null
                && !now.isBefore(window.start().plus(settings.window().multipliedBy(2)));
    }

    private Breaker count(Tally tally, BreakerSettings settings, Instant now, RandomGenerator random) {
        Counts all = tally.all();
        int inARow = all.successes() > 0 ? tally.trailing() : streak + all.failures();
        // Successes alone are no reason to keep the window young, so that it can be seen to be at rest.
        boolean trouble = all.failures() > 0 || all.throttled() > 0;
        Window grown = trouble || window.total().calls() > 0 ? window.plus(all, settings.window(), now) : window;
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
            double seconds = Math.max(LEAST_MEASURED_SECONDS, grown.seconds(settings.window(), now));
            Flow known = flow.atLeast(total.successes() / seconds);
            String text = total.throttled() + " of " + total.calls() + " calls were throttled";
            double took = total.seconds() / Math.max(1, total.successes());
            return counted.enter(Phase.RAMPING, text, now)
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
    private Flow measured(Window grown, Instant now) {
        Counts half = window.younger();
        boolean well = half.successes() > 0 && half.failures() + half.throttled() <= half.successes() * WELL;
        return grown.start().equals(window.start()) || !well
                ? flow
                : flow.atLeast(half.successes()
                        / (Duration.between(window.start(), now).toNanos() / 1e9));
    }

    private Breaker judge(Counts probes, BreakerSettings settings, Instant now, RandomGenerator random) {
        if (probes.successes() > 0) {
            return enter(Phase.RAMPING, "a probe came through", now).with(ramp.start(flow, now));
        }
        int bad = probes.failures() + probes.throttled();
        int left = Math.max(0, waiting - bad - probes.others());
        if (bad > 0) {
            Breaker opened = again(settings, now, random);
            // Others may never end, for instance because their jobs expired: probes become rarer all the same.
            return left == 0 ? opened : waiting(left).rest(opened.interval, opened.nextProbe);
        }
        // One that ended without saying anything about the resource is made up for.
        return waiting(left).with(ramp.take(-probes.others()));
    }

    private Breaker climb(Counts counts, BreakerSettings settings, Instant now, RandomGenerator random) {
        Ramp moved = ramp.after(counts, settings.failureRate(), flow, now);
        if (moved.collapsed()) {
            return open(settings, "it failed again while it was let through slowly", now, random);
        }
        Breaker climbed = with(moved);
        return moved.saturated(flow)
                ? climbed.enter(Phase.CLOSED, "calls succeed as fast as workers make them", now)
                : climbed;
    }

    private Breaker open(BreakerSettings settings, String text, Instant now, RandomGenerator random) {
        Duration first = settings.firstProbe();
        return enter(Phase.OPEN, text, now).rest(first, now.plus(jittered(first, random)));
    }

    /** The probe failed: the next one follows a little later than it did. */
    private Breaker again(BreakerSettings settings, Instant now, RandomGenerator random) {
        Duration grown = interval.plus(interval.dividedBy(10L * settings.probes()));
        Duration least = settings.firstProbe();
        Duration most = settings.longestProbe();
        Duration longer = grown.compareTo(least) < 0 ? least : grown.compareTo(most) < 0 ? grown : most;
        Breaker opened = enter(Phase.OPEN, "the probes failed", now).rest(longer, now);
        return opened.rest(longer, now.plus(jittered(opened.between(settings), random)));
    }

    /** Half of a rest is certain, half is chance: breakers that opened together do not probe together. */
    private static Duration jittered(Duration rest, RandomGenerator random) {
        double part = 0.5 + random.nextDouble() / 2;
        return Duration.ofNanos((long) (rest.toNanos() * part));
    }

    /** From one probe to the next. */
    private Duration between(BreakerSettings settings) {
        return interval.dividedBy(settings.probes());
    }

    private Breaker halfOpen(BreakerSettings settings, Instant now) {
        return enter(Phase.HALF_OPEN, why, now).with(ramp.probes(1, now)).rest(interval, now.plus(between(settings)));
    }

    private Breaker enter(Phase next, String text, Instant now) {
        Ramp rested = next == Phase.CLOSED ? Ramp.none(now) : ramp.probes(0, now);
        Instant last = next == Phase.OPEN || (phase == Phase.CLOSED && next == Phase.RAMPING) ? now : failed;
        Flow kept = phase == Phase.RAMPING ? flow.atLeast(ramp.through()) : flow;
        return new Breaker(
                next, now, text, Window.empty(now), 0, kept, interval, nextProbe, 0, last, rested, heard, force);
    }

    private Breaker with(Flow changed) {
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

    private Breaker force(@Nullable Force by) {
        return new Breaker(
                phase, since, why, window, streak, flow, interval, nextProbe, waiting, failed, ramp, heard, by);
    }

    /** As it is stored. */
    public String text() {
        Counts older = window.older();
        Counts younger = window.younger();
        return new Fields()
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
     * What {@link #text} said; a phase this version does not know is taken for OPEN, due for a probe. Times further ahead
     * than they can be, from before the store's clock was set back, are taken for now.
     */
    public static Breaker parse(String text, Instant now) {
        Fields fields = Fields.parse(text);
        String by = fields.text("forcedBy");
        Duration interval = fields.duration("interval", Duration.ZERO);
        return new Breaker(
                phase(fields.text("phase", "")),
                fields.past("since", now),
                fields.text("why", ""),
                new Window(
                        fields.past("window", now),
                        counts(fields.text("older", "")),
                        counts(fields.text("younger", ""))),
                fields.integer("streak"),
                new Flow(fields.number("known"), fields.number("knownQuickest"), fields.number("tried")),
                interval,
                fields.within("nextProbe", interval, now),
                fields.integer("waiting"),
                fields.past("failed", now),
                new Ramp(
                        fields.number("rate"),
                        fields.number("permits"),
                        fields.number("direct"),
                        fields.past("asked", now),
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
                by == null ? null : new Force(by, fields.text("forcedWhy")));
    }

    private static Phase phase(String name) {
        for (Phase phase : Phase.values()) {
            if (phase.name().equals(name)) {
                return phase;
            }
        }
        return Phase.OPEN;
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
