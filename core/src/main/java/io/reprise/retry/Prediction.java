// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.Locale;

/**
 * How often the next attempt succeeded for jobs in the same situation, by what the whole fleet has seen. Older evidence
 * counts less, so the numbers are not whole.
 *
 * @param successes retries that succeeded
 * @param tries retries that ended, well or not
 * @param basis what "the same situation" means here
 */
public record Prediction(double successes, double tries, Basis basis) {

    /** How near to the case at hand the evidence is. The nearest of which there is enough is taken. */
    public enum Basis {
        /** The same type, resource, error and attempt number. */
        ATTEMPT,
        /** The same type, resource and error, after any attempt. */
        ERROR,
        /** The same type and resource, after any error: a hint at best. */
        TYPE
    }

    /** Of the normal distribution, for an interval that holds the truth 95 times in 100. */
    private static final double Z = 1.959964;

    public Prediction {
        Bounds.number("tries", tries, Double.MIN_VALUE, Double.MAX_VALUE);
        Bounds.number("successes", successes, 0, tries);
    }

    /** The share of tries that succeeded, 0 to 1. */
    public double probability() {
        return successes / tries;
    }

    /** Lower end of the 95 % Wilson score interval. */
    public double low() {
        return successes == 0 ? 0 : Math.max(0, centre() - margin());
    }

    /** Upper end of the 95 % Wilson score interval. */
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

    /** For instance {@code 12 % (95 %: 7 to 20 %) of 104 tries}. */
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
