// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.simulate;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.terminal.JsonOutput;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.simulator.recovery.Property;
import io.reprise.simulator.recovery.Recovery;
import io.reprise.simulator.recovery.RecoveryFailure;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code reprise simulate recovery}: runs fleets through troubles from seeds and checks how they recover. */
@Command(
        name = "recovery",
        sortOptions = false,
        description =
                "Worlds in which trouble comes and goes, each from a seed: does the fleet come back to full speed?",
        footer = {
            "",
            "Ends with code 1 if a property was broken; then the plainest world that shows it is printed too.",
            "",
            "Examples:",
            "  reprise simulate recovery --worlds 2000",
            "  reprise simulate recovery --seed 42"
        })
final class RecoveryCommand implements Callable<Integer> {

    private static final long USUAL_WORLDS = 200;
    private static final long STEP = 100;
    private static final int SHOWN = 20;

    private final Terminal terminal;

    @Option(
            names = "--worlds",
            paramLabel = "N",
            description = "How many worlds to run; 200 unless set, or just one, with its timeline, with --seed.")
    @Nullable
    Long worlds;

    @Mixin
    SeedOptions options = new SeedOptions();

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    RecoveryCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        SimulateCommand.silenceLog();
        if (worlds != null && worlds < 1) {
            throw new BadInput("Invalid value for option '--worlds': must be at least 1, not " + worlds);
        }
        return worlds == null && options.seed != null ? one(options.seed) : many();
    }

    private int one(long number) {
        Recovery.Shown world = Recovery.show(number);
        if (options.json) {
            terminal.out().println(JsonOutput.write(asJson(world)));
        } else {
            terminal.out()
                    .print("World " + number + " (! while there is trouble):\n" + world.setting() + "\n" + world.trace()
                            + "\n");
            world.results().forEach((property, result) -> terminal.out().println(property + ": " + result));
        }
        return world.failed() ? ExitCode.FINDING : ExitCode.OK;
    }

    private int many() {
        long count = worlds == null ? USUAL_WORLDS : worlds;
        Recovery.Report report = Recovery.run(options.first(), count, done -> progress(done, count));
        if (options.json) {
            terminal.out().println(JsonOutput.write(asJson(report)));
        } else {
            print(report);
        }
        return report.failure().isPresent() ? ExitCode.FINDING : ExitCode.OK;
    }

    private void progress(long done, long of) {
        if (terminal.interactive() && done % STEP == 0) {
            terminal.err().println(done + " of " + of + " worlds");
        }
    }

    private void print(Recovery.Report report) {
        terminal.out()
                .printf(
                        Locale.ROOT,
                        "%,d worlds, %,d jobs, %,d calls; %,d worlds broke a property%n",
                        report.worlds(),
                        report.jobs(),
                        report.calls(),
                        report.broken().size());
        TextTable table = new TextTable("property", ">checked", ">held", ">broken");
        report.properties()
                .forEach((property, each) -> table.add(property, each.checked(), each.held(), each.broken()));
        table.print(terminal.out());
        terminal.out().println("\nNot checked:");
        report.properties()
                .forEach((property, each) -> each.whyNot()
                        .forEach((why, times) ->
                                terminal.out().printf(Locale.ROOT, "  %s: %,d times, %s%n", property, times, why)));
        if (report.failure().isPresent()) {
            terminal.out().println("\nBroken:");
            report.broken().entrySet().stream()
                    .limit(SHOWN)
                    .forEach(world -> terminal.out()
                            .println("  " + world.getKey() + "  " + String.join("\n      ", world.getValue())));
            terminal.out().print("\n" + report.failure().get());
        }
    }

    private static Map<String, Object> asJson(Recovery.Shown world) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("experiment", "recovery");
        json.put("seed", world.seed());
        json.put("setting", world.setting().lines().map(String::strip).toList());
        Map<String, Object> results = new LinkedHashMap<>();
        world.results().forEach((property, result) -> results.put(name(property), result));
        json.put("results", results);
        json.put("trace", world.trace().lines().toList());
        return json;
    }

    private static Map<String, @Nullable Object> asJson(Recovery.Report report) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("experiment", "recovery");
        json.put("worlds", report.worlds());
        json.put("jobs", report.jobs());
        json.put("calls", report.calls());
        Map<String, Object> properties = new LinkedHashMap<>();
        report.properties().forEach((property, each) -> properties.put(name(property), asJson(each)));
        json.put("properties", properties);
        Map<String, Object> broken = new LinkedHashMap<>();
        report.broken().forEach((world, texts) -> broken.put(Long.toString(world), texts));
        json.put("broken", broken);
        json.put("failure", report.failure().map(RecoveryCommand::asJson).orElse(null));
        return json;
    }

    private static Map<String, Object> asJson(Recovery.Count count) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("checked", count.checked());
        json.put("held", count.held());
        json.put("broken", count.broken());
        json.put("notChecked", count.whyNot());
        return json;
    }

    private static Map<String, Object> asJson(RecoveryFailure failure) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("seed", failure.seed());
        json.put("broken", failure.broken());
        json.put("setting", failure.setting().lines().map(String::strip).toList());
        json.put("brokenThere", failure.brokenThere());
        json.put("trace", failure.trace().lines().toList());
        json.put("command", failure.command());
        return json;
    }

    private static String name(Property property) {
        return property.toString().replace(' ', '-');
    }
}
