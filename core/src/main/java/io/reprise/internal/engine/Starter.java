// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Lets {@code io.reprise.testing} open a {@link Reprise} with other threads, clock and random numbers than in
 * production, without making them public.
 */
public final class Starter {

    private static volatile @Nullable BiFunction<RepriseBuilder, Engine.Environment, Reprise> opening;

    private Starter() {}

    /** Called by {@link RepriseBuilder} when its class is loaded. */
    public static void offer(BiFunction<RepriseBuilder, Engine.Environment, Reprise> how) {
        opening = how;
    }

    public static Reprise open(RepriseBuilder builder, Engine.Environment environment) {
        return Objects.requireNonNull(opening).apply(builder, environment);
    }

    public static Reprise start(RepriseBuilder builder, Engine.Environment environment) {
        Reprise reprise = open(builder, environment);
        reprise.startWorker();
        return reprise;
    }
}
