// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.simulate;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.policy.PolicyFile;
import io.reprise.cli.terminal.JsonOutput;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.retry.RetryPolicy;
import io.reprise.simulator.Candidate;
import io.reprise.simulator.Report;
import io.reprise.simulator.ReportRow;
import io.reprise.simulator.experiment.Experiment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Base of the experiments: their options, and how they print. */
abstract class SimulateCommand implements Callable<Integer> {

    private final Terminal terminal;

    @Option(names = "--seed", paramLabel = "S", description = "Another seed, another course of events; 1 unless set.")
    long seed = 1;

    @Option(names = "--json", description = "Print JSON.")
    boolean json;

    @Option(names = "--plot", paramLabel = "FILE", description = "Write a picture too, as SVG.")
    @Nullable
    String plot;

    @Option(names = "--rows", paramLabel = "NAMES", split = ",", description = "Only these rows of the table.")
    List<String> rows = new ArrayList<>();

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    SimulateCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    abstract Experiment experiment();

    /** {@code --policy}, for experiments that can run one. */
    static final class OwnPolicy {

        @Option(
                names = "--policy",
                paramLabel = "FILE",
                description = "Policy JSON to run beside the others, with the control plane and by itself.")
        @Nullable
        String file;

        List<Candidate> candidates(Terminal terminal) {
            if (file == null) {
                return List.of();
            }
            PolicyFile source = PolicyFile.read(file, terminal.in());
            try {
                RetryPolicy policy = RetryPolicy.fromJson(source.text());
                // The prefix keeps the name different from existing rows.
                return Candidate.own("my-" + source.name(), policy);
            } catch (IllegalArgumentException e) {
                throw new BadInput("Cannot use " + file + " for '--policy': " + e.getMessage(), e);
            }
        }
    }

    Terminal terminal() {
        return terminal;
    }

    /** Silences warnings about jobs that die in a simulation. */
    static void silenceLog() {
        if (System.getProperty("reprise.log.level") == null) {
            System.setProperty("reprise.log.level", "OFF");
        }
    }

    @Override
    public final Integer call() {
        silenceLog();
        Report report = chosen().run(seed);
        if (plot != null) {
            write(plot, report.plot());
        }
        if (json) {
            terminal.out().println(JsonOutput.write(asJson(report)));
        } else {
            print(report);
        }
        return ExitCode.OK;
    }

    private Experiment chosen() {
        Experiment experiment = experiment();
        if (!rows.isEmpty()) {
            try {
                experiment.keep(rows);
            } catch (IllegalArgumentException e) {
                throw new BadInput("Invalid value for option '--rows': " + e.getMessage(), e);
            }
        }
        return experiment;
    }

    private static Map<String, Object> asJson(Report report) {
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (ReportRow row : report.rows()) {
            Map<String, @Nullable Object> members = new LinkedHashMap<>();
            members.put("policy", row.policy());
            members.putAll(row.values());
            rows.add(members);
        }
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("experiment", report.experiment());
        json.put("seed", report.seed());
        json.put("rows", rows);
        return json;
    }

    private void print(Report report) {
        List<String> headings = new ArrayList<>(List.of("policy"));
        report.rows().get(0).values().keySet().forEach(name -> headings.add(">" + name));
        TextTable table = new TextTable(headings.toArray(String[]::new));
        for (ReportRow row : report.rows()) {
            List<Object> cells = new ArrayList<>(List.of(row.policy()));
            row.values().values().forEach(value -> cells.add(value == null ? "-" : value));
            table.add(cells.toArray());
        }
        terminal.out().println(report.experiment() + ", seed " + report.seed());
        table.print(terminal.out());
    }

    private static void write(String file, String svg) {
        try {
            Files.writeString(Path.of(file), svg);
        } catch (IOException | InvalidPathException e) {
            throw new BadInput("Cannot write " + file + " for '--plot': " + e, e);
        }
    }
}
