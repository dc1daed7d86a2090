// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.retry.FailureClass;
import java.time.Duration;
import java.time.Instant;

/**
 * A bucket of tokens that pays for retries. Successes fill it, and a small floor does; a retry that succeeds gives back
 * half more than it cost. So retries are free as long as two of three help, and otherwise they are bounded by a part of the
 * successes. What retries earn while others wait is not cut off at the capacity: it pays for those that wait, so retries that
 * help are let go faster and faster.
 *
 * @param level below 0 if several workers spent the last tokens at once; then it must first be filled up
 * @param at up to when the floor was added
 * @param waiting whether retries wait for it; then others queue up behind them
 * @param heard when a worker that goes by it last said so
 * @param pace retries that waited and were granted, per second, smoothed
 * @param grantedAt when that was last measured
 */
public record RetryBudget(double level, Instant at, boolean waiting, Instant heard, double pace, Instant grantedAt) {

    /** What a retry costs, whatever it failed of, unless it was told to slow down. */
    static final double DEAREST = 14;

    private static final double CHEAPEST = 5;
    private static final double PER_SUCCESS = 1;
    private static final double MOST = 1e9;

    private static final Duration SAY_AGAIN = Duration.ofSeconds(5);
    private static final Duration FORGOTTEN = Duration.ofSeconds(15);
    /** What lies above the capacity, because nobody could be let go for it, is halved in this time. */
    private static final double HALVED_SECONDS = 10;

    private static final double PACE_SECONDS = 3;
    private static final double LEAST_SECONDS = 0.1;

    public static RetryBudget full(BudgetSettings settings, Instant now) {
        return new RetryBudget(settings.capacity(), now, false, now, 0, now);
    }

    /** A retry after back-pressure is cheap: the other side works. One after anything else is dear. */
    public static double cost(FailureClass failed) {
        return failed == FailureClass.THROTTLED ? CHEAPEST : DEAREST;
    }

    /** What a success puts in. */
    public static double earned(boolean byRetry) {
        return byRetry ? 1.5 * DEAREST : PER_SUCCESS;
    }

    /** The same later. */
    public RetryBudget at(BudgetSettings settings, Instant now) {
        double seconds = Math.max(0, Duration.between(at, now).toNanos() / 1e9);
        double capacity = settings.capacity();
        double above = waiting ? Math.max(0, level - capacity) * Math.pow(0.5, seconds / HALVED_SECONDS) : 0;
        double filled = Math.min(level + seconds * settings.floor() * DEAREST, capacity) + above;
        return new RetryBudget(filled, at.isAfter(now) ? at : now, waiting, heard, pace, grantedAt);
    }

    /** After so many tokens came in, or went out if negative. */
    public RetryBudget plus(double tokens, BudgetSettings settings) {
        double most = waiting ? MOST : Math.max(settings.capacity(), level);
        double changed = Math.min(level + tokens, most);
        return new RetryBudget(Math.max(changed, -settings.capacity()), at, waiting, heard, pace, grantedAt);
    }

    /** How many retries that wait can be granted now. */
    public int grants() {
        return (int) Math.max(0, Math.floor(level / DEAREST));
    }

    /** What so many of them cost. */
    public static double costOf(int grants) {
        return grants * DEAREST;
    }

    public RetryBudget waiting(boolean retriesWait) {
        return new RetryBudget(level, at, retriesWait, heard, retriesWait ? pace : 0, grantedAt);
    }

    /** After so many that waited were granted and paid for. */
    public RetryBudget granted(int retries, BudgetSettings settings, Instant now) {
        double seconds =
                Math.max(LEAST_SECONDS, Duration.between(grantedAt, now).toNanos() / 1e9);
        double weight = 1 - Math.exp(-seconds / PACE_SECONDS);
        double smooth = pace + weight * (retries / seconds - pace);
        RetryBudget paid = plus(-costOf(retries), settings);
        return new RetryBudget(paid.level, at, waiting, heard, smooth, now);
    }

    /** How long until so many retries that wait are granted, at the present pace and by the floor. */
    public Duration timeFor(long retries, BudgetSettings settings, Instant now) {
        double left = Math.max(0, retries - grants());
        double seconds = Math.max(0, Duration.between(grantedAt, now).toNanos() / 1e9);
        double present = pace * Math.exp(-seconds / PACE_SECONDS);
        return Duration.ofMillis((long) (1000 * left / Math.max(present, settings.floor())));
    }

    /** Whether a worker that goes by it should say so again. */
    public boolean isUnheard(Instant now) {
        return (waiting || grants() == 0) && !now.isBefore(heard.plus(SAY_AGAIN));
    }

    /** Whether no worker goes by it any more: all have switched it off. */
    public boolean isForgotten(Instant now) {
        return !now.isBefore(heard.plus(FORGOTTEN));
    }

    /** A worker goes by it. */
    public RetryBudget heard(Instant now) {
        return new RetryBudget(level, at, waiting, now, pace, grantedAt);
    }

    public boolean isFull(BudgetSettings settings) {
        return level >= settings.capacity();
    }

    public String text() {
        return new Fields()
                .put("level", level)
                .put("at", at)
                .put("waiting", waiting)
                .put("heard", heard)
                .put("pace", pace)
                .put("grantedAt", grantedAt)
                .toString();
    }

    /** What {@link #text} said; what is missing there is taken to be now, and empty. */
    public static RetryBudget parse(String text, Instant now) {
        Fields fields = Fields.parse(text);
        return new RetryBudget(
                fields.number("level"),
                fields.past("at", now),
                Boolean.parseBoolean(fields.text("waiting")),
                fields.past("heard", now),
                fields.number("pace"),
                fields.past("grantedAt", now));
    }
}
