// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.report.FigureTable;
import io.reprise.benchmarks.report.Plot;
import io.reprise.benchmarks.report.Results;
import io.reprise.benchmarks.system.QueueSystem;
import io.reprise.benchmarks.system.Systems;
import io.reprise.benchmarks.workload.Workload;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code reprise bench}: measures Reprise, other queues and the plain database side by side. */
@Command(
        name = "reprise bench",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Measures Reprise beside other queues and beside what the database itself can do.")
public final class Main implements Callable<Integer> {

    private static final Map<String, String> SERVER = Map.of(
            "fsync", "on",
            "synchronous_commit", "on",
            "full_page_writes", "on",
            "shared_buffers", "1GB");

    /** Table names as written, and the clients' time zone: peers rely on both. */
    private static final Map<String, String> MARIADB = Map.of(
            "innodb-flush-log-at-trx-commit", "1",
            "innodb-doublewrite", "1",
            "innodb-buffer-pool-size", "1G",
            "innodb-log-file-size", "1G",
            "lower-case-table-names", "1",
            "default-time-zone", "SYSTEM");

    @Spec
    @Nullable
    CommandSpec spec;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "W2",
            description =
                    "Workloads to run, or 'all'; R1 means all of R1-... Unless given: all but W7, W8, control, tracing, D1 to D3 and R1 to R4, which take long.")
    List<String> only = List.of();

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "3",
            description = "Rounds; ${DEFAULT-VALUE} unless given.")
    int rounds;

    @Option(
            names = "--peers",
            split = ",",
            paramLabel = "NAME",
            defaultValue = "all",
            description = "Other queues to measure: all, none, or names.")
    List<String> peers = List.of();

    @Option(
            names = "--store",
            paramLabel = "STORE",
            defaultValue = "postgresql",
            description = "postgresql, mariadb or sqlite; ${DEFAULT-VALUE} unless given.")
    String store = "";

    @Option(names = "--json", description = "Prints the results as JSON instead of a table.")
    boolean json;

    @Option(names = "--quick", description = "A hundredth of the jobs: shows that it works, not how fast.")
    boolean quick;

    @Option(
            names = "--cold",
            description = "Measures also in processes that have run only 3,000 jobs, whose code is hardly compiled.")
    boolean cold;

    @Option(
            names = "--plot",
            arity = "0..1",
            fallbackValue = "docs/performance.svg",
            paramLabel = "FILE",
            description = "Writes a plot of the ratios as SVG; into docs/performance.svg unless a file is given.")
    @Nullable
    Path plot;

    @Option(
            names = "--series",
            paramLabel = "FILE",
            description =
                    "Writes what the last run of R1, R3 or G1 looked like over time: a picture if the name ends in"
                            + " .svg, otherwise comma-separated values.")
    @Nullable
    Path series;

    @Option(
            names = "--profile",
            paramLabel = "DIR",
            description = "Records each measurement with the Java Flight Recorder into this directory.")
    @Nullable
    Path profile;

    private Main() {}

    public static void main(String[] args) {
        System.exit(run(writer(System.out), writer(System.err), args));
    }

    private static PrintWriter writer(PrintStream stream) {
        return new PrintWriter(stream, true, StandardCharsets.UTF_8);
    }

    static int run(PrintWriter out, PrintWriter err, String... args) {
        return new CommandLine(new Main()).setOut(out).setErr(err).execute(args);
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter out = line().getOut();
        StoreKind kind = kind();
        List<Workload> workloads = workloads(kind);
        List<QueueSystem> systems = systems();
        if (profile != null) {
            Files.createDirectories(profile);
        }
        if (kind == StoreKind.SQLITE) {
            Path directory = Files.createTempDirectory("reprise-bench-");
            try {
                return run(
                        new Bench.Plan(
                                kind, directory.toString(), workloads, systems, rounds, quick, cold, series, profile),
                        out);
            } finally {
                delete(directory);
            }
        }
        if (kind == StoreKind.MARIADB) {
            try (MariaDbServer server = MariaDbServer.start(MARIADB)) {
                return run(
                        new Bench.Plan(
                                kind,
                                server.freshDatabaseUrl(),
                                workloads,
                                systems,
                                rounds,
                                quick,
                                cold,
                                series,
                                profile),
                        out);
            }
        }
        try (PostgresServer server = PostgresServer.start(SERVER)) {
            return run(
                    new Bench.Plan(
                            kind, server.freshDatabaseUrl(), workloads, systems, rounds, quick, cold, series, profile),
                    out);
        }
    }

    private int run(Bench.Plan plan, PrintWriter out) throws IOException, InterruptedException {
        Bench bench = new Bench(plan, line().getErr());
        Results results = bench.run();
        if (json) {
            out.println(results.json());
        } else {
            out.print(FigureTable.of(results));
        }
        out.flush();
        if (plot != null) {
            Files.writeString(plot, Plot.svg(results));
        }
        bench.failures().forEach(failure -> line().getErr().println("failed: " + failure));
        return bench.failures().isEmpty() ? 0 : 1;
    }

    private StoreKind kind() {
        try {
            return StoreKind.of(store);
        } catch (IllegalArgumentException e) {
            throw bad("--store must be postgresql, mariadb or sqlite, not " + store);
        }
    }

    private List<Workload> workloads(StoreKind kind) {
        List<String> known = Workloads.ALL.stream().map(Workload::name).toList();
        for (String name : only) {
            if (!name.equals("all") && Workloads.ALL.stream().noneMatch(each -> Workloads.isMeant(name, each))) {
                throw bad("no workload " + name + "; there are " + String.join(", ", known));
            }
        }
        return Workloads.ALL.stream()
                .filter(workload -> only.isEmpty()
                        ? workload.byDefault()
                        : only.contains("all") || only.stream().anyMatch(name -> Workloads.isMeant(name, workload)))
                .filter(workload -> workload.on(kind))
                .toList();
    }

    private List<QueueSystem> systems() {
        List<String> wanted = peers.contains("all") ? Systems.peers() : peers.contains("none") ? List.of() : peers;
        for (String name : wanted) {
            if (!Systems.peers().contains(name)) {
                throw bad("no peer " + name + "; there are " + String.join(", ", Systems.peers()));
            }
        }
        return Stream.concat(Stream.of(Systems.REPRISE, Systems.RAW), wanted.stream())
                .map(Systems::get)
                .toList();
    }

    private ParameterException bad(String message) {
        return new ParameterException(line(), message);
    }

    private CommandLine line() {
        if (spec == null) {
            throw new IllegalStateException("not run by picocli");
        }
        return spec.commandLine();
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
