// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import java.time.Duration;

/**
 * When listeners are alerted. Everything is counted by job type over the last {@link #windowMinutes}, in the whole
 * fleet. An alert is raised when its threshold is exceeded, and cleared when the value is no more than
 * {@value #CLEAR_AT} of it. Immutable: every method returns a copy.
 *
 * @param windowMinutes 1 to 60
 * @param retryRate share of jobs whose first attempt is to be retried, 0 to 1
 * @param minJobs jobs below which a share says nothing
 * @param retryCount retries scheduled
 * @param deadLetters dead letters, if they are also more than {@value #SPIKE} times as many as in an average window of
 *     the hour before
 * @param backoff mean delay before a retry
 */
public record AlertRules(
        int windowMinutes, double retryRate, int minJobs, int retryCount, int deadLetters, Duration backoff) {

    /** Part of a threshold at which an alert is cleared, so that a value that wavers does not alert again and again. */
    public static final double CLEAR_AT = 0.8;

    /** How many times the usual number of dead letters makes a spike. */
    public static final int SPIKE = 3;

    /** Within 10 minutes: 10 % of at least 20 jobs retried, 10 retries, 10 dead letters, 10 minutes of backoff. */
    public static final AlertRules DEFAULT = new AlertRules(10, 0.1, 20, 10, 10, Duration.ofMinutes(10));

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

    public AlertRules windowMinutes(int minutes) {
        return new AlertRules(minutes, retryRate, minJobs, retryCount, deadLetters, backoff);
    }

    public AlertRules retryRate(double share, int ofAtLeast) {
        return new AlertRules(windowMinutes, share, ofAtLeast, retryCount, deadLetters, backoff);
    }

    public AlertRules retryCount(int retries) {
        return new AlertRules(windowMinutes, retryRate, minJobs, retries, deadLetters, backoff);
    }

    public AlertRules deadLetters(int jobs) {
        return new AlertRules(windowMinutes, retryRate, minJobs, retryCount, jobs, backoff);
    }

    public AlertRules backoff(Duration mean) {
        return new AlertRules(windowMinutes, retryRate, minJobs, retryCount, deadLetters, mean);
    }

    private static void require(String field, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(field + " must be " + least + " to " + most + ", not " + value);
        }
    }
}
