// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.JobContext;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.Calls;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.Chart;
import io.reprise.simulator.Errors;
import io.reprise.simulator.Parallel;
import io.reprise.simulator.Report;
import io.reprise.simulator.ReportRow;
import io.reprise.simulator.SimulatedDownstream;
import io.reprise.simulator.SimulatedFleet;
import io.reprise.simulator.SimulatedHandler;
import io.reprise.simulator.SimulatedWorker;
import io.reprise.simulator.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Ten thousand jobs arrive in the one second in which their downstream is down. Measures the calls in
 * the worst second after it.
 */
public final class HerdExperiment extends Contest<Candidate> {

    private static final int WORKERS = 10;
    private static final int PLACES = 1_000;
    private static final double DOWN = 1;
    private static final double LATENCY = 0.05;
    private static final int SHOWN = 40;
    private static final double LONGEST = 100_000;

    private final int jobs;

    public HerdExperiment(List<Candidate> more) {
        this(10_000, more);
    }

    public HerdExperiment(int jobs, List<Candidate> more) {
        super(table(more));
        this.jobs = jobs;
    }

    private static List<Candidate> table(List<Candidate> more) {
        List<Candidate> table = new ArrayList<>(Candidate.all());
        table.addAll(more);
        table.add(fixed("10s-proportional:0.1", Jitter.proportional(0.1)));
        table.add(fixed("10s-equal", Jitter.equal()));
        table.add(fixed("10s-full", Jitter.full()));
        return table;
    }

    @Override
    String name(Candidate candidate) {
        return candidate.name();
    }

    private static Candidate fixed(String name, Jitter jitter) {
        return new Candidate(name, RetryPolicy.fixed(Duration.ofSeconds(10)).jitter(jitter), false);
    }

    @Override
    public Report run(long seed) {
        List<Calls> worlds = Parallel.map(contestants(), candidate -> run(candidate, seed));
        Chart chart = new Chart(
                String.format(Locale.ROOT, "Herd: after %,d jobs came to a downstream that was down", jobs),
                "seconds",
                "calls per second");
        List<ReportRow> rows = new ArrayList<>();
        for (int i = 0; i < contestants().size(); i++) {
            Calls retries = worlds.get(i);
            String name = contestants().get(i).name();
            rows.add(ReportRow.of(name)
                    .with("peakPerSecond", retries.peakFrom(0))
                    .with("calls", retries.total())
                    .with("p50Seconds", retries.quantile(0.5), 1)
                    .with("p99Seconds", retries.quantile(0.99), 1));
            for (int second = 0; second < SHOWN; second++) {
                chart.point(name, second, retries.in(second));
            }
        }
        return new Report("herd", seed, rows, chart.svg());
    }

    private Calls run(Candidate candidate, long seed) {
        World world = new World(seed);
        // A job that was held back before its first call counts as a return too.
        Calls retries = new Calls(world) {
            @Override
            public void began(SimulatedWorker worker, double arrivedAt, JobContext job) {
                if (job.attempt() > 1 || world.now() >= DOWN) {
                    super.began(worker, arrivedAt, job);
                }
            }
        };
        SimulatedDownstream service = answer -> {
            Exception error = world.now() < DOWN ? Errors.refused() : null;
            world.after(LATENCY, () -> answer.accept(error));
        };
        SimulatedFleet fleet =
                new SimulatedFleet(world, candidate).with(WORKERS, PLACES, new SimulatedHandler(service, retries));
        for (int i = 0; i < jobs; i++) {
            world.at((double) i / jobs, fleet::enqueue);
        }
        world.runUntil(() -> fleet.enqueued() == jobs && fleet.isDone(), LONGEST);
        return retries;
    }
}
