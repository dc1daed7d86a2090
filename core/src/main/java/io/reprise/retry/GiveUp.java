// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.text.Bounds;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The rule that fails a job as {@link FailReason#HOPELESS} instead of retrying it. It applies if retries of the same
 * error succeeded less often than {@code probability}, in at least {@code minSamples} tries.
 *
 * <p>One job in {@value #CANARY} is retried in any case. Without it nobody would notice that the error is cured.
 *
 * @param probability the limit; 0 to 1
 * @param minSamples tries that are needed before the rule applies; 1 to 1,000,000
 * @since 0.1.0
 */
public record GiveUp(double probability, int minSamples) {

    /** One hopeless job in this many is retried all the same. */
    public static final int CANARY = 20;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if a value is out of its bounds or not a number
     */
    public GiveUp {
        probability = Bounds.number("giveUpBelow.probability", probability, 0, 1);
        Bounds.integer("giveUpBelow.minSamples", minSamples, 1, 1_000_000);
    }

    /** Whether to give up. Evidence about other errors of the job type is no reason to give up on this error. */
    boolean isHopeless(@Nullable Prediction prediction, RandomGenerator random) {
        return prediction != null
                && prediction.basis() != Prediction.Basis.TYPE
                && prediction.tries() >= minSamples
                && prediction.probability() < probability
                && random.nextInt(CANARY) != 0;
    }
}
