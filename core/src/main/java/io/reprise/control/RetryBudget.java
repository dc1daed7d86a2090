// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.retry.FailureClass;
import java.time.Duration;
import java.time.Instant;

/**
 * A bucket of tokens that pays for retries. Successes fill it, and a small floor does; a retry that succeeds gives back
 * half more than it cost. So retries are free as long as two of three help, and otherwise they are bounded by a part of the
 * successes.
 *
 * @param level below 0 if several workers spent the last tokens at once; then it must first be filled up
 * @param at up to when the floor was added
 * @param waiting whether retries wait for it; then others queue up behind them
 * @param heard when a worker that goes by it last said so
 */
public record RetryBudget(double level, Instant at, boolean waiting, Instant heard) {

    /** What a retry costs, whatever it failed of, unless it was told to slow down. */
    static final double DEAREST = 14;

    private static final double CHEAPEST = 5;
    private static final double PER_SUCCESS = 1;

    private static final Duration SAY_AGAIN = Duration.ofSeconds(5);
    private static final Duration FORGOTTEN = Duration.ofSeconds(15);

    public static RetryBudget full(BudgetSettings settings, Instant now) {
        return new RetryBudget(settings.capacity(), now, false, now);
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
        double filled = level + seconds * settings.floor() * DEAREST;
        return new RetryBudget(Math.min(filled, settings.capacity()), at.isAfter(now) ? at : now, waiting, heard);
    }

    /** After so many tokens came in, or went out if negative. */
    public RetryBudget plus(double tokens, BudgetSettings settings) {
        double changed = Math.min(level + tokens, settings.capacity());
        return new RetryBudget(Math.max(changed, -settings.capacity()), at, waiting, heard);
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
        return new RetryBudget(level, at, retriesWait, heard);
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
        return new RetryBudget(level, at, waiting, now);
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
                .toString();
    }

    /** What {@link #text} said; what is missing there is taken to be now, and empty. */
    public static RetryBudget parse(String text, Instant now) {
        Fields fields = Fields.parse(text);
        return new RetryBudget(
                fields.number("level"),
                fields.past("at", now),
                Boolean.parseBoolean(fields.text("waiting")),
                fields.past("heard", now));
    }
}
