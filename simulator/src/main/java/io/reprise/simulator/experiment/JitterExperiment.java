// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.retry.Backoff;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.Chart;
import io.reprise.simulator.Parallel;
import io.reprise.simulator.Report;
import io.reprise.simulator.ReportRow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Clients update one row under optimistic locking. All start at once, and each tries until it succeeds. Measures the
 * time until the last success, and the number of writes. It repeats the experiment that made jitter popular. No queue
 * takes part: it is about delays alone.
 */
public final class JitterExperiment extends Contest<Candidate> {

    private static final RetryPolicy CURVE = RetryPolicy.unset()
            .backoff(new Backoff.Exponential(Duration.ofMillis(5), 2, 1))
            .cap(Duration.ofSeconds(2));

    private final List<Integer> clients;
    private final int runs;

    public JitterExperiment() {
        this(List.of(10, 50, 100, 190), 30);
    }

    /** Runs each row this many times and shows the mean. */
    public JitterExperiment(List<Integer> clients, int runs) {
        super(table());
        this.clients = List.copyOf(clients);
        this.runs = runs;
    }

    @Override
    String name(Candidate candidate) {
        return candidate.name();
    }

    private record Cell(Candidate candidate, int clients) {}

    @Override
    public Report run(long seed) {
        List<Cell> cells = new ArrayList<>();
        clients.forEach(count -> contestants().forEach(candidate -> cells.add(new Cell(candidate, count))));
        List<ReportRow> rows = Parallel.map(cells, cell -> run(cell, seed));
        Chart chart = new Chart("Jitter: time until every client has written", "clients", "milliseconds").logarithmic();
        rows.forEach(row -> chart.point(row.policy(), row.number("clients"), row.number("timeMs")));
        return new Report("jitter", seed, rows, chart.svg());
    }

    private static List<Candidate> table() {
        List<Candidate> all = new ArrayList<>();
        // The jitter of the default policy, on the curve of the experiment.
        all.add(new Candidate("reprise", CURVE.orElse(RetryPolicy.DEFAULT), false));
        all.add(new Candidate("none", RetryPolicy.fixed(Duration.ZERO), false));
        all.add(spread("exponential", Jitter.none()));
        all.add(spread("proportional:0.1", Jitter.proportional(0.1)));
        all.add(spread("proportional:0.5", Jitter.proportional(0.5)));
        all.add(spread("equal", Jitter.equal()));
        all.add(spread("full", Jitter.full()));
        all.add(spread("decorrelated", Jitter.decorrelated()));
        return all;
    }

    private static Candidate spread(String name, Jitter jitter) {
        return new Candidate(name, CURVE.jitter(jitter), false);
    }

    private ReportRow run(Cell cell, long seed) {
        double millis = 0;
        long calls = 0;
        SplittableRandom seeds = new SplittableRandom(seed);
        for (int i = 0; i < runs; i++) {
            Contention run = new Contention(cell.candidate.policies().get(0), cell.clients, seeds.split());
            millis += run.millisUntilAllDone();
            calls += run.writes();
        }
        return ReportRow.of(cell.candidate.name())
                .with("clients", cell.clients)
                .with("timeMs", Math.round(millis / runs))
                .with("calls", Math.round((double) calls / runs));
    }
}
