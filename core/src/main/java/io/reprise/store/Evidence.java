// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.retry.Prediction;
import java.time.Duration;

/**
 * How retries ended that followed one error after one attempt.
 *
 * @param attempt number of the attempt that had failed; {@value #LAST_ATTEMPT} stands for all from there on
 * @param tries retries that ended; what is a {@link #HALF_LIFE} old counts half
 * @param successes those of them that succeeded
 */
public record Evidence(Cause cause, int attempt, double tries, double successes) {

    public static final Duration HALF_LIFE = Duration.ofDays(1);
    public static final int LAST_ATTEMPT = 10;

    /** What these retries say about the next one. */
    public Prediction prediction() {
        return new Prediction(successes, tries, Prediction.Basis.ATTEMPT);
    }

    public Evidence plus(Evidence more) {
        return new Evidence(cause, attempt, tries + more.tries, successes + more.successes);
    }

    /** What is left of it after so long. */
    public Evidence aged(Duration age) {
        double left = Math.pow(0.5, Math.max(0, age.toMillis()) / (double) HALF_LIFE.toMillis());
        return new Evidence(cause, attempt, tries * left, successes * left);
    }
}
