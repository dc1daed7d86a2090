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
 * <p>CLOSED lets everything run. Failures open it: jobs are parked. After a while it is HALF_OPEN and lets a few probes
 * through; if they fail it opens again, for longer, and if one succeeds it is RAMPING: jobs, the oldest first, are let
 * through at a rate that grows while they succeed. When none is parked any more it closes. Back-pressure leads from CLOSED
 * straight to RAMPING.
 *
 * @param since when it entered its phase
 * @param why what made it do so, in words
 * @param interval rest before the next probes
 * @param nextProbe when they follow; of no meaning unless OPEN
 * @param waiting probes that were let through and have not ended
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
    private static final double WELL = 0.1;
    private static final Duration SHORTEST_RAMP = Duration.ofSeconds(2);
    private static final Duration QUIET = Duration.ofSeconds(30);
    private static final Duration SAY_AGAIN = Duration.ofSeconds(5);
    private static final Duration FORGOTTEN = Duration.ofSeconds(15);

    public static Breaker closed(Instant now) {
        return new Breaker(
                Phase.CLOSED,
                now,
                "",
                Window.empty(now),
                0,
                Flow.none(now),
                Duration.ZERO,
                now,
                0,
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
        Flow joined = flow.joined(tally.rate());
        Breaker told = with(phase == Phase.CLOSED ? joined : joined.parked(tally.parked(), now))
                .heard(now);
        if (force != null) {
            return told;
        }
        return switch (phase) {
            case CLOSED -> told.count(tally, settings, now, random);
            case OPEN -> told;
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
            case RAMPING -> with(ramp.accrue(now));
            case OPEN -> rests(settings, now) ? this : halfOpen(settings, now);
            // Probes that never ended, whatever became of them, must not keep it so for ever.
            case HALF_OPEN ->
                now.isBefore(since.plus(settings.longestProbe())) || waiting == 0 ? this : halfOpen(settings, now);
        };
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
        return phase == Phase.HALF_OPEN || phase == Phase.RAMPING ? (int) Math.floor(ramp.permits() + 1e-9) : 0;
    }

    /** After so many were let through; negative gives back what found no job. */
    public Breaker letThrough(int jobs) {
        return phase == Phase.HALF_OPEN ? with(ramp.take(jobs)).waiting(waiting + jobs) : with(ramp.take(jobs));
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
        return new Breaker(phase, since, why, window, streak, flow, interval, nextProbe, waiting, ramp, now, force);
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
                ramp,
                heard,
                force);
        double share = (double) total.failures() / Math.max(1, total.calls());
        if (inARow >= settings.streak()) {
            return counted.open(settings.firstProbe(), inARow + " failures in a row", now, random);
        }
        if (total.calls() >= settings.minSamples() && share >= settings.failureRate()) {
            String text = total.failures() + " of " + total.calls() + " calls failed within " + settings.window();
            return counted.open(settings.firstProbe(), text, now, random);
        }
        if (total.throttled() >= LEAST_THROTTLED && total.throttled() >= THROTTLED_SHARE * total.calls()) {
            double rate =
                    Math.max(flow.good(), total.successes() / (settings.window().toNanos() / 1e9));
            String text = total.throttled() + " of " + total.calls() + " calls were throttled";
            double took = total.seconds() / Math.max(1, total.successes());
            return counted.enter(Phase.RAMPING, text, now).with(ramp.throttled(rate * THROTTLED_START, took, now));
        }
        return counted;
    }

    /** The good rate, measured anew whenever half a window has passed in which nearly all went well. */
    private Flow measured(Window grown, Instant now) {
        Counts half = window.younger();
        boolean well = half.successes() > 0 && half.failures() + half.throttled() <= half.successes() * WELL;
        return grown.start().equals(window.start()) || !well
                ? flow
                : flow.good(half.successes()
                        / (Duration.between(window.start(), now).toNanos() / 1e9));
    }

    private Breaker judge(Counts probes, BreakerSettings settings, Instant now, RandomGenerator random) {
        if (probes.successes() > 0 || probes.throttled() > 0) {
            return enter(Phase.RAMPING, "a probe came through", now).with(ramp.start(flow.base(), now));
        }
        int left = Math.max(0, waiting - probes.failures() - probes.others());
        if (probes.failures() > 0 && left == 0) {
            return open(longer(settings), "the probes failed", now, random);
        }
        // One that ended without saying anything about the resource is made up for.
        return waiting(left).with(ramp.take(-probes.others()));
    }

    private Duration longer(BreakerSettings settings) {
        Duration longer = interval.multipliedBy(11).dividedBy(10);
        if (longer.compareTo(settings.firstProbe()) < 0) {
            return settings.firstProbe();
        }
        return longer.compareTo(settings.longestProbe()) < 0 ? longer : settings.longestProbe();
    }

    private Breaker climb(Counts counts, BreakerSettings settings, Instant now, RandomGenerator random) {
        Ramp moved = ramp.after(counts, settings.failureRate(), flow.base(), now);
        return moved.collapsed()
                ? open(settings.firstProbe(), "it failed again while it was let through slowly", now, random)
                : with(moved);
    }

    private Breaker open(Duration rest, String text, Instant now, RandomGenerator random) {
        // Half of the rest is certain, half is chance: breakers that opened together do not probe together.
        double part = 0.5 + random.nextDouble() / 2;
        Duration jittered = Duration.ofNanos((long) (rest.toNanos() * part));
        return enter(Phase.OPEN, text, now).rest(rest, now.plus(jittered));
    }

    private Breaker halfOpen(BreakerSettings settings, Instant now) {
        Ramp permits = ramp.probes(settings.probes(), now);
        return enter(Phase.HALF_OPEN, why, now).with(permits);
    }

    private Breaker enter(Phase next, String text, Instant now) {
        Ramp rested = next == Phase.CLOSED ? Ramp.none(now) : ramp.probes(0, now);
        Flow kept = phase == Phase.RAMPING && next == Phase.CLOSED ? flow.good(flow.base()) : flow;
        return new Breaker(next, now, text, Window.empty(now), 0, kept, interval, nextProbe, 0, rested, heard, force);
    }

    private Breaker with(Flow changed) {
        return new Breaker(
                phase, since, why, window, streak, changed, interval, nextProbe, waiting, ramp, heard, force);
    }

    private Breaker with(Ramp changed) {
        return new Breaker(
                phase, since, why, window, streak, flow, interval, nextProbe, waiting, changed, heard, force);
    }

    private Breaker waiting(int probes) {
        return new Breaker(phase, since, why, window, streak, flow, interval, nextProbe, probes, ramp, heard, force);
    }

    private Breaker rest(Duration length, Instant until) {
        return new Breaker(phase, since, why, window, streak, flow, length, until, waiting, ramp, heard, force);
    }

    private Breaker force(@Nullable Force by) {
        return new Breaker(phase, since, why, window, streak, flow, interval, nextProbe, waiting, ramp, heard, by);
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
                .put("good", flow.good())
                .put("arriving", flow.arriving())
                .put("parked", flow.parked())
                .put("parkedSince", flow.since())
                .put("interval", interval)
                .put("nextProbe", nextProbe)
                .put("waiting", waiting)
                .put("rate", ramp.rate())
                .put("permits", ramp.permits())
                .put("accrued", ramp.at())
                .put("seen", counts(ramp.seen()))
                .put("judged", ramp.judged())
                .put("through", ramp.through())
                .put("quickest", ramp.quickest())
                .put("ceiling", ramp.ceiling())
                .put("falls", ramp.falls())
                .put("took", ramp.took())
                .put("inFlight", ramp.inFlight())
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
                new Flow(
                        fields.number("good"),
                        fields.number("arriving"),
                        fields.integer("parked"),
                        fields.past("parkedSince", now)),
                interval,
                fields.within("nextProbe", interval, now),
                fields.integer("waiting"),
                new Ramp(
                        fields.number("rate"),
                        fields.number("permits"),
                        fields.past("accrued", now),
                        counts(fields.text("seen", "")),
                        fields.past("judged", now),
                        fields.number("through"),
                        fields.number("quickest"),
                        fields.number("ceiling"),
                        fields.integer("falls"),
                        fields.number("took"),
                        fields.number("inFlight")),
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
                + counts.seconds();
    }

    private static Counts counts(String text) {
        String[] parts = text.split(",", -1);
        try {
            return parts.length == 5
                    ? new Counts(
                            Integer.parseInt(parts[0]),
                            Integer.parseInt(parts[1]),
                            Integer.parseInt(parts[2]),
                            Integer.parseInt(parts[3]),
                            Double.parseDouble(parts[4]))
                    : Counts.NONE;
        } catch (NumberFormatException unreadable) {
            return Counts.NONE;
        }
    }
}
