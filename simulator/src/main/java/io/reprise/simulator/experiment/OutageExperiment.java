// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.Calls;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.Chart;
import io.reprise.simulator.LimitedService;
import io.reprise.simulator.Parallel;
import io.reprise.simulator.Report;
import io.reprise.simulator.ReportRow;
import io.reprise.simulator.SimulatedFleet;
import io.reprise.simulator.SimulatedHandler;
import io.reprise.simulator.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Jobs arrive while their service is down. Measures the jobs given up, the calls and the time to drain. */
public final class OutageExperiment extends Contest<Candidate> {

    private static final int WORKERS = 4;
    private static final int BEGIN = 60;
    private static final double LONGEST = Duration.ofDays(30).toSeconds();
    private static final int SHOWN_EVERY = 30;

    /**
     * The setting of the experiment.
     *
     * @param outage how long the service is down, beginning after a minute
     * @param rate jobs per second
     * @param length how long jobs arrive
     * @param capacity calls per second that the service serves; it refuses the rest
     * @param concurrency calls at once, of the whole fleet
     */
    public record Setting(Duration outage, double rate, Duration length, int capacity, int concurrency) {

        public static final Setting DEFAULT = new Setting(Duration.ofMinutes(15), 50, Duration.ofHours(1), 100, 400);

        private static final double MOST_JOBS = 1_000_000;

        public Setting {
            inRange("outage", outage.toMillis() / 1e3, 1, 86_400, "seconds");
            inRange("rate", rate, 0.1, 1_000, "jobs per second");
            inRange("length", length.toMillis() / 1e3, BEGIN + 1, 86_400, "seconds");
            inRange("capacity", capacity, 1, 100_000, "calls per second");
            inRange("concurrency", concurrency, WORKERS, 40_000, "calls at once");
            inRange("rate times length", rate * length.toSeconds(), 1, MOST_JOBS, "jobs");
        }

        private static void inRange(String what, double value, double least, double most, String unit) {
            if (!(value >= least && value <= most)) {
                throw new IllegalArgumentException(String.format(
                        Locale.ROOT, "%s must be %,.1f to %,.0f %s, not %,.1f", what, least, most, unit, value));
            }
        }
    }

    private final Setting setting;

    public OutageExperiment(Setting setting, List<Candidate> candidates) {
        super(candidates);
        this.setting = setting;
    }

    @Override
    String name(Candidate candidate) {
        return candidate.name();
    }

    /** Returns every row of the table. */
    public static List<Candidate> table() {
        List<Candidate> all = new ArrayList<>(Candidate.all());
        all.add(new Candidate(
                "fixed-10s-5-attempts",
                RetryPolicy.fixed(Duration.ofSeconds(10)).jitter(Jitter.none()).maxAttempts(5),
                false));
        all.add(new Candidate(
                "exponential-full-5-attempts",
                RetryPolicy.exponential(Duration.ofSeconds(1)).maxAttempts(5),
                false));
        return all;
    }

    @Override
    public Report run(long seed) {
        Chart chart =
                new Chart("Outage: how often the downstream is called", "seconds", "calls per second").logarithmic();
        List<ReportRow> rows = new ArrayList<>();
        for (Result result : Parallel.map(contestants(), candidate -> run(candidate, seed))) {
            rows.add(row(result));
            for (int second = 0; second < shown(); second += SHOWN_EVERY) {
                double calls = (double) result.calls.between(second, second + SHOWN_EVERY) / SHOWN_EVERY;
                chart.point(result.candidate.name(), second, Math.max(0.1, calls));
            }
        }
        return new Report("outage", seed, rows, chart.svg());
    }

    private record Result(Candidate candidate, SimulatedFleet fleet, Calls calls) {}

    /**
     * The figures of one candidate.
     *
     * @param peak most calls in one second after the outage
     * @param p99Seconds time from arrival to success that 99 % of the jobs did not exceed
     * @param callsPerSecond mean of each 30 seconds, while jobs arrive
     * @param cut whether the run was ended because of too many calls; then the figures are of the part before
     */
    public record Figures(
            String name,
            long jobs,
            long succeeded,
            long dead,
            double callsPerJob,
            int peak,
            double p99Seconds,
            List<Double> callsPerSecond,
            boolean cut) {

        public Figures {
            callsPerSecond = List.copyOf(callsPerSecond);
        }
    }

    /** Runs one candidate. The run ends when all jobs have, or after so many calls. */
    public Figures figures(Candidate candidate, long seed, long mostCalls) {
        World world = new World(seed);
        Calls calls = new Calls(world);
        SimulatedFleet fleet = fleet(world, candidate, calls);
        double last = setting.length.toSeconds();
        world.arrivals(setting.rate, 0, last, fleet::enqueue);
        world.runUntil(() -> calls.total() > mostCalls, last);
        world.runUntil(() -> fleet.isDone() || calls.total() > mostCalls, LONGEST);
        List<Double> rates = new ArrayList<>();
        for (int second = 0; second < shown(); second += SHOWN_EVERY) {
            rates.add((double) calls.between(second, second + SHOWN_EVERY) / SHOWN_EVERY);
        }
        double p99 = calls.quantile(0.99);
        return new Figures(
                candidate.name(),
                fleet.enqueued(),
                fleet.succeeded(),
                fleet.dead(),
                (double) calls.total() / Math.max(1, fleet.enqueued()),
                calls.peakFrom((int) Math.ceil(end())),
                Double.isNaN(p99) ? 0 : p99,
                rates,
                calls.total() > mostCalls);
    }

    private SimulatedFleet fleet(World world, Candidate candidate, Calls calls) {
        LimitedService service = new LimitedService(world, setting.capacity, BEGIN, end());
        return new SimulatedFleet(world, candidate)
                .with(WORKERS, Math.max(1, setting.concurrency / WORKERS), new SimulatedHandler(service, calls));
    }

    private Result run(Candidate candidate, long seed) {
        World world = new World(seed);
        Calls calls = new Calls(world);
        SimulatedFleet fleet = fleet(world, candidate, calls);
        double last = setting.length.toSeconds();
        world.arrivals(setting.rate, 0, last, fleet::enqueue);
        world.runUntil(last);
        world.runUntil(fleet::isDone, LONGEST);
        return new Result(candidate, fleet, calls);
    }

    private ReportRow row(Result result) {
        Calls calls = result.calls;
        int recovered = (int) Math.ceil(end());
        return ReportRow.of(result.candidate.name())
                .with("deadPercent", 100.0 * result.fleet.dead() / result.fleet.enqueued(), 1)
                .with("callsPerJob", (double) calls.total() / result.fleet.enqueued(), 2)
                .with("outageCalls", calls.between(BEGIN, recovered))
                .with("peakFactor", calls.peakFrom(recovered) / setting.rate, 1)
                .with("p50Seconds", calls.quantile(0.5), 1)
                .with("p99Seconds", calls.quantile(0.99), 1)
                .with("freshP50Seconds", calls.quantile(0.5, end()), 1)
                .with("freshP99Seconds", calls.quantile(0.99, end()), 1);
    }

    private double end() {
        return BEGIN + setting.outage.toMillis() / 1e3;
    }

    private int shown() {
        return (int) setting.length.toSeconds();
    }
}
