// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.fairness;

import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.Trial;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * G2, G3 and G4: what turns cost, and how even they are. G2 drains 100,000 groups of 10 jobs. Its Jain index is that of
 * the starts by group, in pieces of as many starts as there are groups (goal: 0.98; and 0.6 of the rate without groups).
 * G3 drains jobs without groups while another queue holds the groups, turn by turn with the same alone (goal: 0.97). G4 is G2 beside
 * 1,000,000 delayed jobs of as many groups (goal: unchanged).
 */
public final class ManyGroups extends GroupWorkload {

    private static final int GROUPS = 100_000;
    private static final int EACH = 10;
    private static final int DELAYED = 1_000_000;
    private static final int PLAIN = 100_000;
    private static final int TURNS = 3;

    private final String name;

    private ManyGroups(String name) {
        this.name = name;
    }

    public static List<ManyGroups> all() {
        return List.of(new ManyGroups("G2"), new ManyGroups("G3"), new ManyGroups("G4"));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String title() {
        return switch (name) {
            case "G2" -> "drain 100,000 groups of 10 jobs";
            case "G3" -> "drain 100,000 jobs without groups, beside a queue with groups";
            default -> "drain 100,000 groups of 10 jobs beside 1,000,000 delayed jobs of as many groups";
        };
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        return switch (name) {
            case "G2" -> turns(trial);
            case "G3" -> without(trial);
            default -> beside(trial);
        };
    }

    private static List<Figure> turns(Trial trial) throws Exception {
        int groups = trial.sizes().stored(GROUPS);
        Target plain = trial.install();
        fill(plain, groups * EACH, i -> WORK.job("x").queue("work"));
        double alone = drain(plain, "work", groups * EACH, payload -> {});
        Target target = trial.install();
        grouped(target, "work", groups);
        Evenness evenness = new Evenness(groups);
        double rate = drain(target, "work", groups * EACH, evenness);
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(Figure.RATE, rate);
        values.put("ofPlain", rate / alone);
        values.put("leastJain", evenness.leastJain());
        return List.of(new Figure("G2", values));
    }

    private static List<Figure> without(Trial trial) throws Exception {
        int jobs = trial.sizes().jobs(PLAIN);
        double alone = 0;
        double beside = 0;
        for (int turn = 0; turn < TURNS; turn++) {
            Target plain = trial.install();
            fill(plain, jobs, i -> WORK.job("x").queue("work"));
            alone += drain(plain, "work", jobs, payload -> {}) / TURNS;
            Target target = trial.install();
            grouped(target, "other", trial.sizes().stored(GROUPS / EACH));
            fill(target, jobs, i -> WORK.job("x").queue("work"));
            beside += drain(target, "work", jobs, payload -> {}) / TURNS;
        }
        return List.of(part("G3", beside, alone));
    }

    private static List<Figure> beside(Trial trial) throws Exception {
        int groups = trial.sizes().stored(GROUPS);
        Target alone = trial.install();
        grouped(alone, "work", groups);
        double before = drain(alone, "work", groups * EACH, payload -> {});
        Target target = trial.install();
        fill(
                target,
                trial.sizes().stored(DELAYED),
                i -> WORK.job("later").queue("work").group("later-" + i).after(Duration.ofDays(1)));
        grouped(target, "work", groups);
        double rate = drain(target, "work", groups * EACH, payload -> {});
        return List.of(part("G4", rate, before));
    }

    private static Figure part(String name, double rate, double alone) {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(Figure.RATE, rate);
        values.put("ofAlone", rate / alone);
        return new Figure(name, values);
    }

    /** The groups come one after the other, so that turns have to mix them. */
    private static void grouped(Target target, String queue, int groups) {
        fill(
                target,
                groups * EACH,
                i -> WORK.job(Integer.toString(i / EACH)).queue(queue).group("group-" + i / EACH));
    }

    /** Counts starts by group, in pieces of as many starts as there are groups. */
    private static final class Evenness implements Started {

        private final int groups;
        private final AtomicInteger starts = new AtomicInteger();
        private final AtomicIntegerArray counts;

        Evenness(int groups) {
            this.groups = groups;
            this.counts = new AtomicIntegerArray(groups * EACH);
        }

        @Override
        public void job(String payload) {
            int piece = starts.getAndIncrement() / groups;
            counts.incrementAndGet(piece * groups + Integer.parseInt(payload));
        }

        /** The index of Jain is 1 if all groups started equally often. */
        double leastJain() {
            double least = 1;
            for (int piece = 0; piece < EACH; piece++) {
                double sum = 0;
                double squares = 0;
                for (int group = 0; group < groups; group++) {
                    double count = counts.get(piece * groups + group);
                    sum += count;
                    squares += count * count;
                }
                least = Math.min(least, sum * sum / (groups * squares));
            }
            return least;
        }
    }
}
