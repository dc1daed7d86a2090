// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import java.time.Duration;

/**
 * The thresholds at which listeners are alerted. Everything is counted by job type over the last
 * {@link #windowMinutes}, in the whole fleet. An alert is raised when the value exceeds its threshold. It is cleared
 * when the value is at most {@value #CLEAR_AT} times the threshold. The rules of the leading worker apply, so give all
 * workers the same rules.
 *
 * <p>Immutable: each method returns a copy, and the last call of a method wins.
 *
 * @param windowMinutes length of the window in minutes, 1 to 60
 * @param retryRate share of jobs whose first attempt is retried, 0 to 1
 * @param minJobs number of jobs in the window below which the share is not measured, at least 1
 * @param retryCount number of scheduled retries, at least 0
 * @param deadLetters number of dead letters, at least 0. They must also be more than {@value #SPIKE} times as many as
 *     in an average window of the hour before
 * @param backoff mean delay before a retry, not negative
 * @since 0.1.0
 */
public record AlertRules(
        int windowMinutes, double retryRate, int minJobs, int retryCount, int deadLetters, Duration backoff) {

    /**
     * The part of a threshold at which an alert is cleared. Therefore a value that wavers around the threshold alerts
     * only once.
     */
    public static final double CLEAR_AT = 0.8;

    /** The share of jobs that may start later than the service level of their queue allows. */
    public static final double LATE_STARTS = 0.05;

    /** This many times the usual number of dead letters make a spike. */
    public static final int SPIKE = 3;

    /**
     * The default: within 10 minutes 10 % of at least 20 jobs retried, 10 retries, 10 dead letters, or 10 minutes of
     * mean backoff.
     */
    public static final AlertRules DEFAULT = new AlertRules(10, 0.1, 20, 10, 10, Duration.ofMinutes(10));

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public AlertRules {
        require("windowMinutes", windowMinutes, 1, 60);
        if (!(retryRate >= 0 && retryRate <= 1)) {
            throw new IllegalArgumentException("retryRate must be 0 to 1, not " + retryRate);
        }
        require("minJobs", minJobs, 1, Integer.MAX_VALUE);
        require("retryCount", retryCount, 0, Integer.MAX_VALUE);
        require("deadLetters", deadLetters, 0, Integer.MAX_VALUE);
        if (backoff.isNegative()) {
            throw new IllegalArgumentException("backoff must not be negative, but is " + backoff);
        }
    }

    /**
     * Sets the length of the window. The default is 10 minutes.
     *
     * @param minutes 1 to 60
     * @throws IllegalArgumentException if {@code minutes} is outside these bounds
     */
    public AlertRules windowMinutes(int minutes) {
        return new AlertRules(minutes, retryRate, minJobs, retryCount, deadLetters, backoff);
    }

    /**
     * Sets the share of jobs whose first attempt is retried. The default is 0.1 of at least 20 jobs.
     *
     * @param share 0 to 1; 1 switches this alert off
     * @param ofAtLeast number of jobs below which the share is not measured, at least 1
     * @throws IllegalArgumentException if a value is outside its bounds
     */
    public AlertRules retryRate(double share, int ofAtLeast) {
        return new AlertRules(windowMinutes, share, ofAtLeast, retryCount, deadLetters, backoff);
    }

    /**
     * Sets the number of scheduled retries. The default is 10.
     *
     * @param retries at least 0
     * @throws IllegalArgumentException if {@code retries} is negative
     */
    public AlertRules retryCount(int retries) {
        return new AlertRules(windowMinutes, retryRate, minJobs, retries, deadLetters, backoff);
    }

    /**
     * Sets the number of dead letters. The default is 10.
     *
     * @param jobs at least 0
     * @throws IllegalArgumentException if {@code jobs} is negative
     */
    public AlertRules deadLetters(int jobs) {
        return new AlertRules(windowMinutes, retryRate, minJobs, retryCount, jobs, backoff);
    }

    /**
     * Sets the mean delay before a retry. The default is 10 minutes.
     *
     * @param mean zero or longer
     * @throws IllegalArgumentException if {@code mean} is negative
     */
    public AlertRules backoff(Duration mean) {
        return new AlertRules(windowMinutes, retryRate, minJobs, retryCount, deadLetters, mean);
    }

    private static void require(String field, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(field + " must be " + least + " to " + most + ", not " + value);
        }
    }
}
