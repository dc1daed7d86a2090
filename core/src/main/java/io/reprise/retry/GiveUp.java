// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * When a retry is not worth it: if retries of this error succeeded less often than {@code probability} in at least
 * {@code minSamples} tries. One job in {@value #CANARY} is retried all the same, or nobody would notice that the error
 * has been cured.
 */
public record GiveUp(double probability, int minSamples) {

    public static final int CANARY = 20;

    public GiveUp {
        probability = Bounds.number("giveUpBelow.probability", probability, 0, 1);
        Bounds.integer("giveUpBelow.minSamples", minSamples, 1, 1_000_000);
    }

    /** Evidence about other errors of the type is no reason to give up on this one. */
    boolean isHopeless(@Nullable Prediction prediction, RandomGenerator random) {
        return prediction != null
                && prediction.basis() != Prediction.Basis.TYPE
                && prediction.tries() >= minSamples
                && prediction.probability() < probability
                && random.nextInt(CANARY) != 0;
    }
}
