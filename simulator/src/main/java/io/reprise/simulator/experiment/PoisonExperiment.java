// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.JobContext;
import io.reprise.retry.LossRule;
import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.Calls;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.Chart;
import io.reprise.simulator.Parallel;
import io.reprise.simulator.Report;
import io.reprise.simulator.ReportRow;
import io.reprise.simulator.SimulatedFleet;
import io.reprise.simulator.SimulatedHandler;
import io.reprise.simulator.SimulatedWorker;
import io.reprise.simulator.World;
import java.util.ArrayList;
import java.util.List;

/**
 * One job kills every worker that runs it. Measures the deaths until it is quarantined, and the effect on other jobs.
 */
public final class PoisonExperiment extends Contest<Candidate> {

    private static final double POISON = -1;
    private static final int PLACES = 10;
    private static final int WORKERS = 4;
    private static final double RATE = 10;
    private static final double BEGIN = 10;
    private static final double RESTART = 5;
    private static final double LATENCY = 1;

    private final double arriving;
    private final double observed;

    public PoisonExperiment(List<Candidate> more) {
        this(600, 3_600, more);
    }

    /** Innocent jobs arrive for {@code arriving} seconds; the world is observed for {@code observed} seconds. */
    public PoisonExperiment(double arriving, double observed, List<Candidate> more) {
        super(table(more));
        this.arriving = arriving;
        this.observed = observed;
    }

    private static List<Candidate> table(List<Candidate> more) {
        List<Candidate> table = new ArrayList<>();
        table.add(Candidate.REPRISE);
        table.addAll(more);
        // Put back without counting, or counted like any failure, as other queues do.
        table.add(new Candidate(
                "never-counted", RetryPolicy.unset().losses(new LossRule(false, false, 1_000_000)), false));
        table.add(new Candidate(
                "counted-as-failure",
                RetryPolicy.unset().maxAttempts(11).losses(new LossRule(true, true, 1_000_000)),
                false));
        List.of("omniq", "stent", "weave", "mongo", "conduit")
                .forEach(name -> table.add(new Candidate(name, Presets.get(name), false)));
        return table;
    }

    @Override
    String name(Candidate candidate) {
        return candidate.name();
    }

    @Override
    public Report run(long seed) {
        List<Killings> worlds = Parallel.map(contestants(), candidate -> run(candidate, seed));
        Chart chart = new Chart("Poison: workers killed by one job", "seconds", "workers killed").logarithmic();
        List<ReportRow> rows = new ArrayList<>();
        for (int i = 0; i < contestants().size(); i++) {
            String name = contestants().get(i).name();
            rows.add(worlds.get(i).row(name));
            worlds.get(i).draw(chart, name, observed);
        }
        return new Report("poison", seed, rows, chart.svg());
    }

    private Killings run(Candidate candidate, long seed) {
        World world = new World(seed);
        Killings killings = new Killings(world, new SimulatedFleet(world, candidate));
        killings.fleet.with(WORKERS, PLACES, killings.handler);
        world.arrivals(RATE, 0, arriving, killings.fleet::enqueue);
        world.at(BEGIN, () -> killings.fleet.enqueue(POISON));
        world.runUntil(arriving);
        world.runUntil(killings.fleet::isDone, observed);
        return killings;
    }

    /** Counts the deaths that the poison caused. */
    private static final class Killings extends Calls {

        private final World world;
        private final SimulatedFleet fleet;
        private final SimulatedHandler handler;
        private final List<Double> killedAt = new ArrayList<>();

        Killings(World world, SimulatedFleet fleet) {
            super(world);
            this.world = world;
            this.fleet = fleet;
            this.handler = new SimulatedHandler(answer -> world.after(LATENCY, () -> answer.accept(null)), this);
        }

        @Override
        public void began(SimulatedWorker worker, double payload, JobContext job) {
            if (payload == POISON) {
                world.after(LATENCY / 2, () -> kill(worker));
            } else {
                super.began(worker, payload, job);
            }
        }

        private void kill(SimulatedWorker worker) {
            worker.die();
            killedAt.add(world.now());
            world.after(RESTART, () -> fleet.replace(worker, PLACES, handler));
        }

        ReportRow row(String name) {
            boolean quarantined = fleet.isDone();
            long innocent = fleet.enqueued() - 1;
            return ReportRow.of(name)
                    .with("killedWorkers", killedAt.size())
                    .with("ended", quarantined)
                    .with("innocentDead", fleet.dead() - (quarantined ? 1 : 0))
                    .with("innocentRunTwice", total() - innocent)
                    .with("p99Seconds", quantile(0.99), 1);
        }

        void draw(Chart chart, String name, double observed) {
            chart.point(name, 0, 0);
            for (int i = 0; i < killedAt.size(); i++) {
                chart.point(name, killedAt.get(i), i);
                chart.point(name, killedAt.get(i), i + 1);
            }
            chart.point(name, observed, killedAt.size());
        }
    }
}
