// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import io.reprise.retry.Prediction;
import java.time.Duration;

/**
 * How retries ended that followed one error after one attempt.
 *
 * @param cause type, resource and error
 * @param attempt number of the attempt that had failed; {@value #LAST_ATTEMPT} stands for this number and all greater
 *     ones
 * @param tries retries that ended. A retry that is one {@link #HALF_LIFE} old counts half
 * @param successes retries that succeeded
 * @since 0.1.0
 */
public record Evidence(ErrorKey cause, int attempt, double tries, double successes) {

    /** The age at which evidence counts half: one day. */
    public static final Duration HALF_LIFE = Duration.ofDays(1);
    /** The greatest attempt number that is counted by itself. */
    public static final int LAST_ATTEMPT = 10;

    /**
     * Returns the prediction for the next retry after this error and attempt.
     *
     * @throws IllegalArgumentException if there are no {@code tries}
     */
    public Prediction prediction() {
        return new Prediction(successes, tries, Prediction.Basis.ATTEMPT);
    }

    /** Returns the sum of both, with cause and attempt of this one. */
    public Evidence plus(Evidence more) {
        return new Evidence(cause, attempt, tries + more.tries, successes + more.successes);
    }

    /** Returns what is left of this evidence after some time. A negative age changes nothing. */
    public Evidence aged(Duration age) {
        double left = Math.pow(0.5, Math.max(0, age.toMillis()) / (double) HALF_LIFE.toMillis());
        return new Evidence(cause, attempt, tries * left, successes * left);
    }
}
