// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.JobContext;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.Chart;
import io.reprise.simulator.Parallel;
import io.reprise.simulator.Report;
import io.reprise.simulator.ReportRow;
import io.reprise.simulator.SimulatedFleet;
import io.reprise.simulator.SimulatedHandler;
import io.reprise.simulator.SimulatedWorker;
import io.reprise.simulator.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Workers pause at times, and at times one dies. A short lease detects deaths soon but takes paused workers for dead; a
 * long lease does the opposite.
 */
public final class LeaseExperiment extends Contest<Integer> {

    private static final int WORKERS = 8;
    private static final int PLACES = 10;
    private static final double RATE = 8;
    private static final double RUN = 5;
    private static final double BETWEEN_PAUSES = 60;
    private static final double MEDIAN_PAUSE = 1;
    private static final double SPREAD = 1.5;
    private static final double BETWEEN_DEATHS = 120;
    private static final double RESTART = 5;

    private final double seconds;

    public LeaseExperiment() {
        this(List.of(2, 5, 10, 15, 30, 60, 120), 7_200);
    }

    public LeaseExperiment(List<Integer> leases, double seconds) {
        super(leases);
        this.seconds = seconds;
    }

    /** Every row has our own policy, with another lease. */
    @Override
    String name(Integer lease) {
        return Candidate.REPRISE.name();
    }

    @Override
    public Report run(long seed) {
        List<ReportRow> rows = Parallel.map(contestants(), lease -> new Trial(lease, seed).row());
        Chart chart = new Chart("Lease: what its length costs", "lease, seconds", "seconds, or %");
        for (ReportRow row : rows) {
            double lease = row.number("leaseSeconds");
            chart.point("seconds until a dead worker's job runs again", lease, row.number("recoverySeconds"));
            chart.point("pauses that cost the lease, %", lease, row.number("lostPausePercent"));
        }
        return new Report("lease", seed, rows, chart.svg());
    }

    private final class Trial implements SimulatedHandler.Observer {

        private record Run(SimulatedWorker worker, double since) {}

        private final int lease;
        private final World world;
        private final SimulatedFleet fleet;
        private final SplittableRandom chance;
        private final SimulatedHandler handler;
        private final Map<Double, Run> running = new HashMap<>();
        private final Map<SimulatedWorker, Double> diedAt = new HashMap<>();
        private final Map<SimulatedWorker, Double> pausedSince = new HashMap<>();
        private final List<Double> recoveries = new ArrayList<>();
        private long duplicates;
        private int pauses;
        private int lostPauses;

        Trial(int lease, long seed) {
            this.lease = lease;
            this.world = new World(seed);
            this.chance = world.chance();
            this.fleet = new SimulatedFleet(world, Candidate.REPRISE).lease(Duration.ofSeconds(lease));
            this.handler = new SimulatedHandler(answer -> world.after(RUN, () -> answer.accept(null)), this);
        }

        ReportRow row() {
            fleet.with(WORKERS, PLACES, handler);
            for (int i = 0; i < WORKERS; i++) {
                nextPause(i);
            }
            nextDeath();
            world.arrivals(RATE, 0, seconds, fleet::enqueue);
            world.runUntil(seconds);
            double mean =
                    recoveries.stream().mapToDouble(each -> each).average().orElse(Double.NaN);
            double most = recoveries.stream().mapToDouble(each -> each).max().orElse(Double.NaN);
            return ReportRow.of(Candidate.REPRISE.name())
                    .with("leaseSeconds", lease)
                    .with("pauses", pauses)
                    .with("lostPausePercent", 100.0 * lostPauses / Math.max(1, pauses), 1)
                    .with("duplicates", duplicates)
                    .with("duplicatePercent", 100.0 * duplicates / fleet.enqueued(), 2)
                    .with("recoverySeconds", mean, 1)
                    .with("longestRecoverySeconds", most, 1);
        }

        private void nextPause(int place) {
            world.after(-StrictMath.log1p(-chance.nextDouble()) * BETWEEN_PAUSES, () -> {
                SimulatedWorker worker = fleet.workers().get(place);
                double pause = MEDIAN_PAUSE * StrictMath.exp(SPREAD * chance.nextGaussian());
                if (!worker.isDead()) {
                    pauses++;
                    pausedSince.put(worker, world.now());
                    worker.pause(pause);
                }
                world.after(pause, () -> nextPause(place));
            });
        }

        private void nextDeath() {
            world.after(-StrictMath.log1p(-chance.nextDouble()) * BETWEEN_DEATHS, () -> {
                SimulatedWorker worker = fleet.workers().get(chance.nextInt(WORKERS));
                if (!worker.isDead()) {
                    worker.die();
                    diedAt.put(worker, world.now());
                    world.after(RESTART, () -> fleet.replace(worker, PLACES, handler));
                }
                nextDeath();
            });
        }

        @Override
        public void began(SimulatedWorker worker, double arrivedAt, JobContext job) {
            Run before = running.put(arrivedAt, new Run(worker, world.now()));
            if (before == null) {
                return;
            }
            Double death = diedAt.get(before.worker);
            if (death != null) {
                recoveries.add(world.now() - death);
            } else {
                duplicates++;
                // The first job of a pause that runs again shows that the pause has cost the lease.
                if (pausedSince.remove(before.worker) != null) {
                    lostPauses++;
                }
            }
        }

        @Override
        public void ended(double arrivedAt, @Nullable Throwable error) {
            running.remove(arrivedAt);
        }
    }
}
