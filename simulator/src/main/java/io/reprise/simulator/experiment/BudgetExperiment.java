// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.Calls;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.Chart;
import io.reprise.simulator.ClientBudget;
import io.reprise.simulator.Errors;
import io.reprise.simulator.Parallel;
import io.reprise.simulator.Report;
import io.reprise.simulator.ReportRow;
import io.reprise.simulator.SimulatedDownstream;
import io.reprise.simulator.SimulatedFleet;
import io.reprise.simulator.SimulatedHandler;
import io.reprise.simulator.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/** Calls fail with a certain probability. Measures the share of jobs that succeed, and the calls per job. */
public final class BudgetExperiment extends Contest<Client> {

    private static final int CLIENTS = 100;
    private static final int RETRIES = 3;
    private static final double RATE = 100;
    private static final double LATENCY = 0.01;
    /** Long enough after the last arrival for retries that nothing holds back. */
    private static final double AFTERWARDS = 60;

    private record Cell(Client client, double failing) {}

    private final List<Double> failing;
    private final double seconds;

    public BudgetExperiment(List<Candidate> more) {
        this(List.of(0.01, 0.1, 0.2, 0.5, 1.0), 200, more);
    }

    public BudgetExperiment(List<Double> failing, double seconds, List<Candidate> more) {
        super(table(more));
        this.failing = List.copyOf(failing);
        this.seconds = seconds;
    }

    private static List<Client> table(List<Candidate> more) {
        RetryPolicy atOnce = RetryPolicy.fixed(Duration.ZERO).maxRetries(RETRIES);
        List<Client> table = new ArrayList<>();
        table.add(Client.plain(Candidate.REPRISE));
        more.forEach(each -> table.add(Client.plain(each)));
        table.add(Client.plain("no-retries", RetryPolicy.none()));
        table.add(Client.plain("3-retries", atOnce));
        table.add(Client.budgeted("bucket-0.1-cap-10", atOnce, world -> ClientBudget.bucket(10, 0.1, 1)));
        table.add(Client.budgeted("retry-breaker-10-percent", atOnce, world -> ClientBudget.breaker(0.1)));
        return table;
    }

    @Override
    String name(Client client) {
        return client.candidate().name();
    }

    @Override
    public Report run(long seed) {
        List<Cell> cells = new ArrayList<>();
        contestants().forEach(client -> failing.forEach(share -> cells.add(new Cell(client, share))));
        List<ReportRow> rows = new ArrayList<>(Parallel.map(cells, cell -> run(cell, seed)));
        failing.forEach(share -> rows.add(expected(share)));
        Chart chart = new Chart("Budget: calls per job", "calls that fail, %", "calls per job");
        rows.forEach(row -> chart.point(row.policy(), 100 * row.number("failing"), row.number("load")));
        return new Report("budget", seed, rows, chart.svg());
    }

    private ReportRow run(Cell cell, long seed) {
        World world = new World(seed);
        Calls calls = new Calls(world);
        RandomGenerator chance = world.chance();
        SimulatedDownstream service = answer -> {
            Exception error = chance.nextDouble() < cell.failing ? Errors.failed() : null;
            world.after(LATENCY, () -> answer.accept(error));
        };
        ClientBudget[] budgets = new ClientBudget[CLIENTS];
        Arrays.setAll(budgets, i -> cell.client.budget().apply(world));
        SimulatedHandler handler = new SimulatedHandler(service, calls, job -> budgets[(int) (job % CLIENTS)]);
        SimulatedFleet fleet = new SimulatedFleet(world, cell.client.candidate()).with(4, 100, handler);
        world.arrivals(RATE, 0, seconds, fleet::enqueue);
        world.runUntil(seconds + AFTERWARDS);
        double jobs = fleet.enqueued();
        return row(
                name(cell.client),
                cell.failing,
                1 - fleet.succeeded() / jobs,
                fleet.dead() / jobs,
                calls.total() / jobs);
    }

    /** The formula for three retries: pⁿ⁺¹ of the jobs fail, with 1 + p + p² + p³ calls. */
    private static ReportRow expected(double p) {
        double failed = Math.pow(p, RETRIES + 1.0);
        return row("3-retries-by-formula", p, failed, failed, 1 + p + p * p + p * p * p);
    }

    private static ReportRow row(String policy, double failing, double unserved, double dead, double load) {
        return ReportRow.of(policy)
                .with("failing", failing, 2)
                .with("failPercent", 100 * unserved, 2)
                .with("deadPercent", 100 * dead, 2)
                .with("load", load, 2);
    }
}
