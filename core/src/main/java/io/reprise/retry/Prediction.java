// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import java.util.Locale;

/**
 * How often the next attempt succeeded for jobs in the same situation, in the whole fleet. Older evidence counts less,
 * so the numbers are not whole.
 *
 * @param successes retries that succeeded; 0 to {@code tries}
 * @param tries retries that ended, with success or not; more than 0
 * @param basis how close the evidence is to the case
 * @since 0.1.0
 */
public record Prediction(double successes, double tries, Basis basis) {

    /** How close the evidence is to the case. The closest basis with enough evidence is used. */
    public enum Basis {
        /** Jobs of the same type and resource, after the same error and the same attempt number. */
        ATTEMPT,
        /** Jobs of the same type and resource, after the same error and any attempt. */
        ERROR,
        /**
         * Jobs of the same type and resource, after any error. This is only a hint: {@link RetryPolicy#giveUpBelow}
         * ignores it.
         */
        TYPE
    }

    /** Quantile of the normal distribution for a 95 % interval. */
    private static final double Z = 1.959964;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if {@code tries} is not greater than 0, if {@code successes} is not 0 to
     *     {@code tries}, or if a value is not a number
     */
    public Prediction {
        Bounds.number("tries", tries, Double.MIN_VALUE, Double.MAX_VALUE);
        Bounds.number("successes", successes, 0, tries);
    }

    /** Returns the share of tries that succeeded, 0 to 1. */
    public double probability() {
        return successes / tries;
    }

    /** Returns the lower end of the 95 % Wilson score interval, 0 to 1. */
    public double low() {
        return successes == 0 ? 0 : Math.max(0, centre() - margin());
    }

    /** Returns the upper end of the 95 % Wilson score interval, 0 to 1. */
    public double high() {
        return successes == tries ? 1 : Math.min(1, centre() + margin());
    }

    private double centre() {
        return (successes + Z * Z / 2) / (tries + Z * Z);
    }

    private double margin() {
        double p = probability();
        return Z * Math.sqrt(p * (1 - p) * tries + Z * Z / 4) / (tries + Z * Z);
    }

    /** Returns a text for people, for instance {@code 12 % (95 %: 7 to 20 %) of 104 tries}. */
    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%.0f %% (95 %%: %.0f to %.0f %%) of %.0f tries",
                100 * probability(),
                100 * low(),
                100 * high(),
                tries);
    }
}
