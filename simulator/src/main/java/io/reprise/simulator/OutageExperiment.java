// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Jobs keep coming while what they call is down: how many are given up, what does it cost, how long does it take? */
public final class OutageExperiment implements Experiment {

    private static final int WORKERS = 4;
    private static final double BEGIN = 60;
    private static final double LONGEST = Duration.ofDays(14).toSeconds();

    /**
     * The world of the experiment.
     *
     * @param outage how long the downstream is down, beginning after a minute
     * @param rate jobs per second
     * @param length how long jobs keep coming
     * @param capacity calls per second that the downstream serves
     * @param concurrency calls at once, of the whole fleet
     */
    public record Setting(Duration outage, double rate, Duration length, int capacity, int concurrency) {

        public static final Setting DEFAULT =
                new Setting(Duration.ofMinutes(15), 50, Duration.ofHours(1), 100, 400);
    }

    private final Setting setting;
    private final List<Candidate> candidates;

    public OutageExperiment(Setting setting, List<Candidate> candidates) {
        this.setting = setting;
        this.candidates = List.copyOf(candidates);
    }

    @Override
    public Report run(long seed) {
        List<Row> rows = new ArrayList<>();
        for (Candidate c : candidates) {
            long t = System.nanoTime();
            rows.add(run(c, seed));
            System.err.println(rows.get(rows.size() - 1) + " " + (System.nanoTime() - t) / 1000000);
        }
        return new Report("outage", seed, rows, "");
    }

    private Row run(Candidate candidate, long seed) {
        double end = BEGIN + setting.outage.toMillis() / 1e3;
        World world = new World(seed);
        Calls calls = new Calls(world);
        LimitedService service = new LimitedService(world, setting.capacity, BEGIN, end);
        Fleet fleet = new Fleet(world, candidate)
                .with(WORKERS, setting.concurrency / WORKERS, new SimulatedHandler(service, calls));
        double last = setting.length.toSeconds();
        world.arrivals(setting.rate, 0, last, fleet::enqueue);
        world.runUntil(last);
        world.runUntil(fleet::isDone, LONGEST);
        return Row.of(candidate.name())
                .with("deadPercent", 100.0 * fleet.dead() / fleet.enqueued(), 1)
                .with("callsPerJob", (double) calls.total() / fleet.enqueued(), 2)
                .with("outageCalls", calls.between((int) BEGIN, (int) Math.ceil(end)))
                .with("peakFactor", calls.peakFrom((int) Math.ceil(end)) / setting.rate, 1)
                .with("p50Seconds", calls.quantile(0.5), 1)
                .with("p99Seconds", calls.quantile(0.99), 1);
    }

    public static void main(String[] args) {
        new OutageExperiment(Setting.DEFAULT, Candidate.all()).run(1);
    }
}
