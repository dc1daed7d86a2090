// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.control.BudgetSettings;
import io.reprise.failure.FailureClass;
import java.time.Duration;
import java.time.Instant;

/**
 * A budget of credit that pays for retries. Successes and a small floor fill it. A retry that succeeds earns one and a
 * half times its cost. So retries are free if two of three succeed; otherwise a part of the successes bounds them.
 *
 * <p>While retries wait, credit that other retries earn is not cut off at the capacity but pays for those that wait. So
 * retries that help are unparked faster and faster. Immutable: each method returns the next state.
 *
 * @param level credit; never below 0. Several workers may spend the last credit at the same time. That is no debt: a debt would
 *     keep the floor back, and retries that begin to help could not earn credit
 * @param at time up to which the floor was added
 * @param waiting whether retries wait for this budget; then further retries queue up behind them
 * @param heard when a worker last reported that it uses this budget
 * @param pace retries per second that waited and were granted, smoothed
 * @param grantedAt when {@code pace} was last measured
 * @since 0.1.0
 */
public record RetryBudget(double level, Instant at, boolean waiting, Instant heard, double pace, Instant grantedAt) {

    /** The cost of a retry, except after back-pressure. */
    static final double RETRY_COST = BudgetSettings.MIN_CAPACITY;

    private static final double THROTTLED_RETRY_COST = 5;
    private static final double PER_SUCCESS = 1;
    private static final double MAX_CREDIT = 1e9;

    private static final Duration REPORT_INTERVAL = Duration.ofSeconds(5);
    private static final Duration UNUSED_AFTER = Duration.ofSeconds(15);

    /** Credit above the capacity that no waiting retry has used is halved in this time. */
    private static final double HALVED_SECONDS = 10;

    private static final double PACE_SECONDS = 3;
    private static final double LEAST_SECONDS = 0.1;

    /** Returns a new budget, with credit up to its capacity. */
    public static RetryBudget full(BudgetSettings settings, Instant now) {
        return new RetryBudget(settings.capacity(), now, false, now, 0, now);
    }

    /** Returns the cost of a retry: 5 after THROTTLED, because the other side works, and 14 after any other failure. */
    public static double cost(FailureClass failed) {
        return failed == FailureClass.THROTTLED ? THROTTLED_RETRY_COST : RETRY_COST;
    }

    /** Returns the cost of a retry from a budget: a plain one asks the same for each. */
    static double cost(FailureClass failed, BudgetSettings settings) {
        return settings.rate() == null ? cost(failed) : RETRY_COST;
    }

    /** Returns the credit that a success earns in a budget: nothing in a plain one. */
    static double earned(boolean byRetry, BudgetSettings settings) {
        return settings.rate() == null ? earned(byRetry) : 0;
    }

    /** Returns the credit that a success earns: 21 if a retry succeeded, 1 otherwise. */
    public static double earned(boolean byRetry) {
        return byRetry ? 1.5 * RETRY_COST : PER_SUCCESS;
    }

    /**
     * Returns the budget at a later time, with the floor added. Credit above the capacity decays while retries wait,
     * and is cut off otherwise.
     */
    public RetryBudget at(BudgetSettings settings, Instant now) {
        double seconds = Math.max(0, Duration.between(at, now).toNanos() / 1e9);
        double capacity = settings.capacity();
        double above = waiting ? Math.max(0, level - capacity) * Math.pow(0.5, seconds / HALVED_SECONDS) : 0;
        double filled = Math.min(level + seconds * settings.floor() * RETRY_COST, capacity) + above;
        return new RetryBudget(filled, at.isAfter(now) ? at : now, waiting, heard, pace, grantedAt);
    }

    /**
     * Returns the budget after credit was earned or spent. The level stays between 0 and the capacity; above it only
     * while retries wait.
     *
     * @param credits credit; negative if it was spent
     */
    public RetryBudget plus(double credits, BudgetSettings settings) {
        double most = waiting ? MAX_CREDIT : Math.max(settings.capacity(), level);
        double changed = Math.min(level + credits, most);
        return new RetryBudget(Math.max(changed, 0), at, waiting, heard, pace, grantedAt);
    }

    /** Returns how many waiting retries can be paid for now. */
    public int grants() {
        return (int) Math.max(0, Math.floor(level / RETRY_COST));
    }

    /** Returns the cost of this many waiting retries. */
    public static double costOf(int grants) {
        return grants * RETRY_COST;
    }

    /** Returns the budget with or without waiting retries. Without, the measured pace is 0. */
    public RetryBudget waiting(boolean retriesWait) {
        return new RetryBudget(level, at, retriesWait, heard, retriesWait ? pace : 0, grantedAt);
    }

    /** Returns the budget after this many waiting retries were granted and paid for. */
    public RetryBudget granted(int retries, BudgetSettings settings, Instant now) {
        double seconds =
                Math.max(LEAST_SECONDS, Duration.between(grantedAt, now).toNanos() / 1e9);
        double weight = 1 - Math.exp(-seconds / PACE_SECONDS);
        double smooth = pace + weight * (retries / seconds - pace);
        RetryBudget paid = plus(-costOf(retries), settings);
        return new RetryBudget(paid.level, at, waiting, heard, smooth, now);
    }

    /** Estimates the time until this many waiting retries are granted, at the present pace or by the floor. */
    public Duration timeFor(long retries, BudgetSettings settings, Instant now) {
        double left = Math.max(0, retries - grants());
        double seconds = Math.max(0, Duration.between(grantedAt, now).toNanos() / 1e9);
        double present = pace * Math.exp(-seconds / PACE_SECONDS);
        return Duration.ofMillis((long) (1000 * left / Math.max(present, settings.floor())));
    }

    /**
     * Returns whether a worker that uses the budget should report so again: retries wait or none can be paid for, and 5
     * s have passed since the last such report.
     */
    public boolean isUnheard(Instant now) {
        return (waiting || grants() == 0) && !now.isBefore(heard.plus(REPORT_INTERVAL));
    }

    /** Returns whether no worker uses the budget any more: none has reported for 15 s. */
    public boolean isForgotten(Instant now) {
        return !now.isBefore(heard.plus(UNUSED_AFTER));
    }

    /** Returns the budget after a worker reported that it uses it. */
    public RetryBudget heard(Instant now) {
        return new RetryBudget(level, at, waiting, now, pace, grantedAt);
    }

    /** Returns whether the credit has reached the capacity. Then the budget equals a new one and can be deleted. */
    public boolean isFull(BudgetSettings settings) {
        return level >= settings.capacity();
    }

    /** Returns the text that is stored, one field per line. */
    public String text() {
        return new StateText()
                .put("level", level)
                .put("at", at)
                .put("waiting", waiting)
                .put("heard", heard)
                .put("pace", pace)
                .put("grantedAt", grantedAt)
                .toString();
    }

    /**
     * Reads the text that {@link #text} returns. A missing or unreadable level is 0, and a missing or future time is
     * now.
     */
    public static RetryBudget parse(String text, Instant now) {
        StateText fields = StateText.parse(text);
        return new RetryBudget(
                Math.max(0, fields.number("level")),
                fields.past("at", now),
                Boolean.parseBoolean(fields.text("waiting")),
                fields.past("heard", now),
                fields.number("pace"),
                fields.past("grantedAt", now));
    }
}
