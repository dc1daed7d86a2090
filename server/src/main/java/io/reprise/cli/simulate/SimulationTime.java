// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.simulate;

import io.reprise.server.auth.Buckets;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Processor time that simulations of this server may take. A tenant, or a key without one, may use half a minute at once and
 * then a tenth of a core; all together half of a core. A run is not cut off: what it used too much is missing afterwards.
 * Thread-safe.
 */
final class SimulationTime {

    private static final double AT_ONCE_SECONDS = 30;
    private static final double OF_A_CORE = 0.1;
    private static final double ALL_AT_ONCE_SECONDS = 120;
    private static final double ALL_OF_A_CORE = 0.5;

    /** No caller has an empty name. */
    private static final String ALL = "";

    private final Buckets each = new Buckets(OF_A_CORE, AT_ONCE_SECONDS);
    private final Buckets all = new Buckets(ALL_OF_A_CORE, ALL_AT_ONCE_SECONDS);
    private final InstantSource clock;
    private final LongSupplier cpuNanos;

    SimulationTime() {
        this(InstantSource.system(), () -> ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime());
    }

    /**
     * Creates one with a clock of its own.
     *
     * @param cpuNanos processor time of the current thread
     */
    SimulationTime(InstantSource clock, LongSupplier cpuNanos) {
        this.clock = clock;
        this.cpuNanos = cpuNanos;
    }

    /**
     * Refuses an owner whose time is used up.
     *
     * @throws Problem with the time to wait
     */
    void require(String owner) {
        Instant now = clock.instant();
        Duration own = each.untilOne(owner, now);
        if (!own.isZero()) {
            throw refused("Your simulations have used their processor time on this server", own);
        }
        Duration others = all.untilOne(ALL, now);
        if (!others.isZero()) {
            throw refused("Simulations have used their processor time on this server", others);
        }
    }

    private static Problem refused(String why, Duration wait) {
        long seconds = wait.toSeconds() + 1;
        return Problem.of(
                        ProblemType.TOO_MANY_REQUESTS,
                        why + "; try again in " + seconds + " s, with fewer policies or a shorter outage, or run"
                                + " 'reprise simulate outage' on a machine of your own")
                .header("Retry-After", Long.toString(seconds));
    }

    /** Does work in this thread and counts the time that it took. */
    <T extends @Nullable Object> T spend(String owner, Supplier<T> work) {
        long before = cpuNanos.getAsLong();
        try {
            return work.get();
        } finally {
            double seconds = (cpuNanos.getAsLong() - before) / 1e9;
            each.spend(owner, clock.instant(), seconds);
            all.spend(ALL, clock.instant(), seconds);
        }
    }
}
