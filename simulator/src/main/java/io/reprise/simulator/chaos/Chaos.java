// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;

/** Runs worlds full of disasters, each from its own seed. */
public final class Chaos {

    private Chaos() {}

    /**
     * The result of many worlds.
     *
     * @param seeds number of worlds
     * @param events number of events in all of them
     * @param virtualSeconds length of all of them in virtual time
     * @param faults how often each kind of fault happened
     * @param failure the failure of the lowest failing seed, made as small as possible
     */
    public record Report(
            long seeds, long events, double virtualSeconds, Map<Fault, Long> faults, Optional<ChaosFailure> failure) {}

    /**
     * Runs this many worlds, with the threads of the common pool, until one fails.
     *
     * @param progress receives the number of finished worlds after each world
     */
    public static Report run(long firstSeed, long seeds, LongConsumer progress) {
        return run(firstSeed, seeds, progress, ChaosBug.NONE);
    }

    static Report run(long firstSeed, long seeds, LongConsumer progress, ChaosBug breakage) {
        Sums sums = new Sums();
        AtomicLong lowest = new AtomicLong(Long.MAX_VALUE);
        LongStream.range(firstSeed, firstSeed + seeds).parallel().forEach(seed -> {
            if (lowest.get() == Long.MAX_VALUE) {
                ChaosOutcome outcome = new ChaosWorld(ChaosPlan.of(seed), breakage).run();
                progress.accept(sums.add(outcome));
                if (outcome.isFailed()) {
                    lowest.accumulateAndGet(seed, Math::min);
                }
            }
        });
        Optional<ChaosFailure> failure = lowest.get() == Long.MAX_VALUE
                ? Optional.empty()
                : Optional.of(ChaosFailure.of(lowest.get(), breakage));
        return sums.report(failure);
    }

    /** Returns the whole trace of one world. Equal seeds give equal traces, to the last byte. */
    public static String trace(long seed) {
        return new ChaosWorld(ChaosPlan.of(seed), ChaosBug.NONE).run().trace();
    }

    private static final class Sums {

        private final Map<Fault, Long> faults = new EnumMap<>(Fault.class);
        private long seeds;
        private long events;
        private double seconds;

        synchronized long add(ChaosOutcome outcome) {
            outcome.faults().forEach((fault, count) -> faults.merge(fault, count, Long::sum));
            events += outcome.lines().size();
            seconds += outcome.nanos() / 1e9;
            return ++seeds;
        }

        synchronized Report report(Optional<ChaosFailure> failure) {
            return new Report(seeds, events, seconds, new EnumMap<>(faults), failure);
        }
    }
}
