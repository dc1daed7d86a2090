// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Lets {@code io.reprise.testing} start a {@link Reprise} with other threads, clock and random numbers than in
 * production, without making them public.
 */
public final class Starter {

    private static volatile @Nullable BiFunction<RepriseBuilder, Engine.Environment, Reprise> start;

    private Starter() {}

    /** Called by {@link RepriseBuilder} when its class is loaded. */
    public static void offer(BiFunction<RepriseBuilder, Engine.Environment, Reprise> how) {
        start = how;
    }

    public static Reprise start(RepriseBuilder builder, Engine.Environment environment) {
        return Objects.requireNonNull(start).apply(builder, environment);
    }
}
