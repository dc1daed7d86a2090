// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.simulate;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.terminal.JsonOutput;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.simulator.chaos.Chaos;
import io.reprise.simulator.chaos.ChaosFailure;
import io.reprise.simulator.chaos.Fault;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code reprise simulate chaos}: runs fleets through disasters from seeds and checks that nothing was lost. */
@Command(
        name = "chaos",
        sortOptions = false,
        description = "Fleets full of disasters, each from a seed: is anything lost, run too early, or accepted twice?",
        footer = {
            "",
            "Ends with code 1 and the smallest course of events that it finds if a rule was broken.",
            "",
            "Examples:",
            "  reprise simulate chaos --seeds 100000",
            "  reprise simulate chaos --seed 42"
        })
final class ChaosCommand implements Callable<Integer> {

    private static final long USUAL_SEEDS = 1_000;
    private static final long STEP = 1_000;

    private final Terminal terminal;

    @Option(
            names = "--seeds",
            paramLabel = "N",
            description = "How many seeds to run; 1000 unless set, or just one with --seed.")
    @Nullable
    Long seeds;

    @Mixin
    SeedOptions options = new SeedOptions();

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    ChaosCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        SimulateCommand.silenceLog();
        long count = seeds != null ? seeds : options.seed != null ? 1 : USUAL_SEEDS;
        if (count < 1) {
            throw new BadInput("Invalid value for option '--seeds': must be at least 1, not " + count);
        }
        Chaos.Report report = Chaos.run(options.first(), count, done -> progress(done, count));
        if (options.json) {
            terminal.out().println(JsonOutput.write(asJson(report)));
        } else {
            print(report);
        }
        return report.failure().isPresent() ? ExitCode.FINDING : ExitCode.OK;
    }

    private void progress(long done, long of) {
        if (terminal.interactive() && done % STEP == 0) {
            terminal.err().println(done + " of " + of + " seeds");
        }
    }

    private void print(Chaos.Report report) {
        terminal.out()
                .printf(
                        Locale.ROOT,
                        "%,d seeds, %,d events in %,.0f virtual seconds, %s%n",
                        report.seeds(),
                        report.events(),
                        report.virtualSeconds(),
                        report.failure().isPresent() ? "a rule was broken" : "no rule broken");
        TextTable table = new TextTable("fault", ">times");
        report.faults().forEach((fault, times) -> table.add(name(fault), times));
        table.print(terminal.out());
        report.failure().ifPresent(failure -> terminal.out().print("\n" + failure));
    }

    private static String name(Fault fault) {
        return fault.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Map<String, @Nullable Object> asJson(Chaos.Report report) {
        Map<String, Object> faults = new LinkedHashMap<>();
        report.faults().forEach((fault, times) -> faults.put(name(fault), times));
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("experiment", "chaos");
        json.put("seeds", report.seeds());
        json.put("events", report.events());
        json.put("virtualSeconds", Math.round(report.virtualSeconds()));
        json.put("faults", faults);
        json.put("failure", report.failure().map(ChaosCommand::asJson).orElse(null));
        return json;
    }

    private static Map<String, Object> asJson(ChaosFailure failure) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("seed", failure.seed());
        json.put("violations", failure.violations());
        json.put("setting", failure.setting().lines().map(String::strip).toList());
        json.put("trace", failure.trace().lines().map(String::strip).toList());
        json.put("command", failure.command());
        return json;
    }
}
