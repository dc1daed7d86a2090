// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.ArrivalRate;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.Chart;
import io.reprise.simulator.ClientBudget;
import io.reprise.simulator.FifoServer;
import io.reprise.simulator.Parallel;
import io.reprise.simulator.Report;
import io.reprise.simulator.ReportRow;
import io.reprise.simulator.SimulatedFleet;
import io.reprise.simulator.SimulatedHandler;
import io.reprise.simulator.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A server stalls for ten seconds under load. Measures how long until it does useful work again, if ever. */
public final class MetastableExperiment extends Contest<Client> {

    private static final double SERVED_PER_SECOND = 100;
    private static final double TIMEOUT = 1;
    private static final double STALL = 10;
    private static final double BEGIN = 60;
    private static final double GOOD = 0.95;
    private static final int WINDOW = 10;
    private static final int WORKERS = 4;
    private static final int PLACES = 100;

    private record Cell(Client client, double load) {}

    private final List<Double> loads;
    private final int seconds;
    private final boolean shedding;

    /**
     * Ten minutes at 50 %, 80 % and 90 % of the server's capacity.
     *
     * @param more candidates beside those of the table
     * @param shedding whether the server drops requests whose client has given up
     */
    public MetastableExperiment(List<Candidate> more, boolean shedding) {
        this(List.of(0.5, 0.8, 0.9), 600, more, shedding);
    }

    public MetastableExperiment(List<Double> loads, int seconds, List<Candidate> more, boolean shedding) {
        super(table(more));
        this.loads = List.copyOf(loads);
        this.seconds = seconds;
        this.shedding = shedding;
    }

    private static List<Client> table(List<Candidate> more) {
        RetryPolicy spread = threeRetries(Jitter.full());
        List<Client> table = new ArrayList<>();
        table.add(Client.plain(Candidate.REPRISE));
        more.forEach(each -> table.add(Client.plain(each)));
        table.add(Client.plain(Candidate.UNCONTROLLED));
        table.add(Client.plain("no-retries", RetryPolicy.none()));
        table.add(Client.plain("3-retries-exponential", threeRetries(Jitter.none())));
        table.add(Client.plain("3-retries-full-jitter", spread));
        table.add(Client.budgeted("budget-10-percent", spread, world -> ClientBudget.bucket(100, 0.1, 1)));
        table.add(Client.budgeted("budget-aws-2016", spread, world -> ClientBudget.bucket(500, 1, 5)));
        table.add(Client.budgeted("budget-aws-2026", spread, world -> ClientBudget.bucket(500, 1, 14)));
        table.add(Client.budgeted("budget-finagle", spread, world -> ClientBudget.ofSends(world, 0.2, 10)));
        return table;
    }

    @Override
    String name(Client client) {
        return client.candidate().name();
    }

    private static RetryPolicy threeRetries(Jitter jitter) {
        return RetryPolicy.exponential(Duration.ofMillis(100))
                .cap(Duration.ofSeconds(20))
                .jitter(jitter)
                .maxRetries(3);
    }

    @Override
    public Report run(long seed) {
        List<Cell> cells = new ArrayList<>();
        contestants().forEach(client -> loads.forEach(load -> cells.add(new Cell(client, load))));
        List<ArrivalRate> flows = Parallel.map(cells, cell -> run(cell, seed));
        List<ReportRow> rows = new ArrayList<>();
        Chart chart = new Chart(
                "Metastable: goodput at " + Math.round(100 * loads.get(loads.size() - 1))
                        + " % load, stall from 60 s to 70 s",
                "seconds",
                "successes per arrival");
        for (int i = 0; i < cells.size(); i++) {
            Cell cell = cells.get(i);
            String name = name(cell.client);
            rows.add(row(name, cell.load, flows.get(i)));
            if (cell.load == loads.get(loads.size() - 1)) {
                flows.get(i).draw(chart, name);
            }
        }
        return new Report("metastable", seed, rows, chart.svg());
    }

    private ArrivalRate run(Cell cell, long seed) {
        World world = new World(seed);
        ArrivalRate flow = new ArrivalRate(world, seconds);
        FifoServer server = new FifoServer(
                world, SERVED_PER_SECOND, BEGIN, BEGIN + STALL, shedding ? TIMEOUT : Double.POSITIVE_INFINITY);
        ClientBudget budget = cell.client.budget().apply(world);
        SimulatedHandler handler = new SimulatedHandler(server, flow, job -> budget);
        SimulatedFleet fleet = new SimulatedFleet(world, cell.client.candidate())
                .timeout(Duration.ofMillis(Math.round(1000 * TIMEOUT)))
                .with(WORKERS, PLACES, handler);
        world.arrivals(cell.load * SERVED_PER_SECOND, 0, seconds, () -> {
            flow.arrived();
            fleet.enqueue();
        });
        world.runUntil(seconds);
        return flow;
    }

    private ReportRow row(String name, double load, ArrivalRate flow) {
        Integer recovered = flow.firstGood((int) (BEGIN + STALL), WINDOW, GOOD);
        return ReportRow.of(name)
                .with("load", load, 2)
                .with("recoverySeconds", recovered == null ? null : recovered - (int) (BEGIN + STALL))
                .with("goodput", flow.goodput(seconds - 60, seconds), 2)
                .with("amplification", flow.amplification(), 2);
    }
}
