// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import io.reprise.benchmarks.measure.Processes;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.report.FigureTable;
import io.reprise.benchmarks.report.Results;
import io.reprise.benchmarks.system.Databases;
import io.reprise.benchmarks.system.QueueSystem;
import io.reprise.benchmarks.system.Systems;
import io.reprise.benchmarks.workload.RecoveryRun;
import io.reprise.benchmarks.workload.ServerProcess;
import io.reprise.benchmarks.workload.Workload;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Runs all measurements: every system in round one, then every system in round two, and so on. */
final class Bench {

    /**
     * The measurements to make.
     *
     * @param cold whether to measure also in processes that have hardly run anything before
     * @param place where databases are made, see {@link Databases}
     * @param series file for what a recovery looked like; null for none
     * @param profiles directory for recordings of the Java Flight Recorder; null for none
     */
    record Plan(
            StoreKind store,
            String place,
            List<Workload> workloads,
            List<QueueSystem> systems,
            int rounds,
            boolean quick,
            boolean cold,
            @Nullable Path series,
            @Nullable Path profiles) {}

    private static final List<QueueSystem> NONE = List.of();

    private final Plan plan;
    private final PrintWriter progress;
    private final Results results;
    private final List<String> failures = new ArrayList<>();

    Bench(Plan plan, PrintWriter progress) {
        this.plan = plan;
        this.progress = progress;
        this.results = new Results(plan.store());
    }

    Results run() throws IOException, InterruptedException {
        for (Workload workload : plan.workloads()) {
            for (int round = 1; round <= plan.rounds(); round++) {
                for (QueueSystem system : plan.systems()) {
                    measure(workload, round, system, false);
                }
                for (QueueSystem system : plan.cold() && workload.alsoCold() ? plan.systems() : NONE) {
                    measure(workload, round, system, true);
                }
            }
        }
        return results;
    }

    /** Returns the measurements that went wrong. Their systems have no figures, or fewer. */
    List<String> failures() {
        return failures;
    }

    private void measure(Workload workload, int round, QueueSystem system, boolean cold)
            throws IOException, InterruptedException {
        String name = workload.name() + suffix(cold);
        boolean steps = workload.name().equals("D1");
        String why = steps && !system.hasSteps()
                ? "has no steps that are stored one by one"
                : system.cannot(workload.name(), plan.store());
        boolean peer = Systems.peers().contains(system.name());
        boolean limit = system.name().equals(Systems.RAW);
        if (why == null && ((peer && !workload.forPeers()) || (limit && workload.alone()))) {
            return;
        }
        if (why != null) {
            results.cannot(system.name(), name, why);
            return;
        }
        String what =
                String.format(Locale.ROOT, "%-5s round %d of %d  %-15s", name, round, plan.rounds(), system.name());
        progress.print(what);
        progress.flush();
        List<Figure> figures = trial(workload, round, system, cold);
        for (Figure figure : figures) {
            results.add(system.name(), round, new Figure(figure.workload() + suffix(cold), figure.values()));
            figure.values()
                    .forEach((unit, value) -> progress.print(
                            " " + figure.workload() + suffix(cold) + " " + FigureTable.number(value) + " " + unit));
        }
        if (figures.isEmpty()) {
            failures.add(what);
            results.cannot(system.name(), name, "failed: see above");
            progress.print(" failed");
        }
        progress.println();
        progress.flush();
    }

    private static String suffix(boolean cold) {
        return cold ? "-cold" : "";
    }

    private List<Figure> trial(Workload workload, int round, QueueSystem system, boolean cold)
            throws IOException, InterruptedException {
        List<String> options = new ArrayList<>();
        if (plan.quick()) {
            // Nothing runs long enough to be worth optimising compilation.
            options.add("-XX:TieredStopAtLevel=1");
        }
        if (plan.series() != null) {
            options.add("-D" + RecoveryRun.PICTURE + "=" + plan.series());
        }
        if (plan.profiles() != null) {
            String what = workload.name() + suffix(cold) + "-" + system.name() + "-" + round;
            options.add("-XX:StartFlightRecording:settings=profile,filename="
                    + plan.profiles().resolve(what + ".jfr"));
            options.add("-D" + ServerProcess.RECORDING + "=" + plan.profiles().resolve(what + "-server.jfr"));
        }
        Process process = Processes.start(
                options,
                TrialProcess.class,
                List.of(
                        system.name(),
                        workload.name(),
                        plan.store().toString(),
                        plan.place(),
                        Boolean.toString(plan.quick()),
                        Boolean.toString(cold)));
        try (BufferedReader output = process.inputReader()) {
            String found = output.lines()
                    .filter(line -> line.startsWith(TrialProcess.RESULT))
                    .findFirst()
                    .orElse(null);
            return found == null
                    ? List.of()
                    : new JsonMapper()
                            .readValue(
                                    found.substring(TrialProcess.RESULT.length()),
                                    new TypeReference<List<Figure>>() {});
        } finally {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        }
    }
}
