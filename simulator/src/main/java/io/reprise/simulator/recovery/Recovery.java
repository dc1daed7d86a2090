// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;

/** Runs worlds in which trouble comes and goes, each from its own seed. */
public final class Recovery {

    private Recovery() {}

    /**
     * How often a property was checked. A property that is rarely checked is a gap.
     *
     * @param whyNot number of worlds that could not show it, by the reason
     */
    public record Count(long held, long broken, Map<String, Long> whyNot) {

        /** Returns the number of worlds in which it was really checked. */
        public long checked() {
            return held + broken;
        }
    }

    /**
     * The result of many worlds.
     *
     * @param broken the worlds that broke a property: seed and errors, in the order of seeds
     * @param failure the first of them, made as plain as possible
     */
    public record Report(
            long worlds,
            long jobs,
            long calls,
            Map<Property, Count> properties,
            Map<Long, List<String>> broken,
            Optional<RecoveryFailure> failure) {}

    /**
     * One world.
     *
     * @param results HELD, BROKEN or NOT_APPLICABLE for each property, with the reason
     * @param trace the events, by the second
     */
    public record Shown(long seed, String setting, String trace, Map<Property, String> results, boolean failed) {}

    /**
     * Runs this many worlds, with the threads of the common pool.
     *
     * @param progress receives the number of finished worlds after each world
     */
    public static Report run(long firstSeed, long worlds, LongConsumer progress) {
        return run(firstSeed, worlds, progress, RecoveryBug.NONE);
    }

    static Report run(long firstSeed, long worlds, LongConsumer progress, RecoveryBug breakage) {
        Sums sums = new Sums();
        LongStream.range(firstSeed, firstSeed + worlds)
                .parallel()
                .forEach(seed -> progress.accept(sums.add(RecoveryOutcome.of(Plans.of(seed), breakage))));
        return sums.report(breakage);
    }

    /** Returns one world with all details. */
    public static Shown show(long seed) {
        RecoveryOutcome outcome = RecoveryOutcome.of(Plans.of(seed), RecoveryBug.NONE);
        Map<Property, String> results = new EnumMap<>(Property.class);
        outcome.verdicts()
                .forEach(verdict -> results.put(
                        verdict.property(),
                        verdict.result() + (verdict.text().isEmpty() ? "" : ": " + verdict.text())));
        return new Shown(
                seed,
                outcome.plan().describe(),
                TimeTable.of(outcome.plan(), outcome.course()),
                results,
                !outcome.broken().isEmpty());
    }

    private static final class Sums {

        private final Map<Property, Count> counts = new EnumMap<>(Property.class);
        private final Map<Long, List<String>> broken = new TreeMap<>();
        private long worlds;
        private long jobs;
        private long calls;

        synchronized long add(RecoveryOutcome outcome) {
            jobs += outcome.course().jobs;
            calls += outcome.course().calls;
            outcome.verdicts().forEach(this::add);
            if (!outcome.broken().isEmpty()) {
                broken.put(
                        outcome.plan().seed(),
                        outcome.broken().stream().map(RecoveryVerdict::toString).toList());
            }
            return ++worlds;
        }

        private void add(RecoveryVerdict verdict) {
            Count before = counts.getOrDefault(verdict.property(), new Count(0, 0, Map.of()));
            counts.put(
                    verdict.property(),
                    switch (verdict.result()) {
                        case HELD -> new Count(before.held + 1, before.broken, before.whyNot);
                        case BROKEN -> new Count(before.held, before.broken + 1, before.whyNot);
                        case NOT_APPLICABLE -> {
                            Map<String, Long> whyNot = new TreeMap<>(before.whyNot);
                            whyNot.merge(verdict.text(), 1L, Long::sum);
                            yield new Count(before.held, before.broken, whyNot);
                        }
                    });
        }

        synchronized Report report(RecoveryBug breakage) {
            Optional<RecoveryFailure> first =
                    broken.keySet().stream().findFirst().map(seed -> RecoveryFailure.of(seed, breakage));
            return new Report(worlds, jobs, calls, counts, broken, first);
        }
    }
}
