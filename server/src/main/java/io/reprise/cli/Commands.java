// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.BulkOptions;
import io.reprise.cli.base.OptionText;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.base.Why;
import io.reprise.cli.demo.DemoCommand;
import io.reprise.cli.policy.LintCommand;
import io.reprise.cli.policy.PresetsCommand;
import io.reprise.cli.policy.PreviewCommand;
import io.reprise.cli.schema.SchemaExportCommand;
import io.reprise.cli.schema.SchemaPrintCommand;
import io.reprise.cli.simulate.SimulateCommands;
import io.reprise.cli.terminal.Terminal;
import io.reprise.server.config.Durations;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;
import tools.jackson.databind.node.ObjectNode;

/** All commands of {@code reprise}. */
public final class Commands {

    /** The completion command needs to know all other commands. */
    private static final String COMPLETION = "completion";

    private Commands() {}

    /**
     * Builds the command line for these arguments. If they begin with a command, only that command is built: reading
     * the annotations of all commands takes longer than running one.
     */
    static CommandLine line(RepriseCommand root, Terminal terminal, String... args) {
        Map<String, Supplier<CommandLine>> commands = commands(root, terminal);
        Supplier<CommandLine> named = args.length == 0 || args[0].equals(COMPLETION) ? null : commands.get(args[0]);
        CommandLine line = new CommandLine(root);
        if (named == null) {
            commands.values().forEach(command -> line.addSubcommand(command.get()));
        } else {
            line.addSubcommand(named.get());
        }
        return line.registerConverter(Duration.class, Commands::duration)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true)
                .setOut(terminal.out())
                .setErr(terminal.err());
    }

    private static Map<String, Supplier<CommandLine>> commands(RepriseCommand root, Terminal terminal) {
        Map<String, Supplier<CommandLine>> commands = new LinkedHashMap<>();
        commands.put("serve", () -> ServeCommand.line(terminal));
        commands.put("jobs", () -> new CommandLine(new JobsCommand(terminal)));
        commands.put("dead", () -> DeadCommand.line(terminal));
        commands.put("queues", () -> new CommandLine(new QueuesCommand(terminal)));
        commands.put("batches", () -> new CommandLine(new BatchesCommand(terminal)));
        commands.put("resources", () -> new CommandLine(new ResourcesCommand(terminal)));
        commands.put("schedules", () -> new CommandLine(new SchedulesCommand(terminal)));
        commands.put("settings", () -> new CommandLine(new SettingsCommand(terminal)));
        commands.put("keys", () -> new CommandLine(new KeysCommand(terminal)));
        commands.put("stats", () -> new CommandLine(new StatsCommand(terminal)));
        commands.put("backup", () -> new CommandLine(new BackupCommand(terminal)));
        commands.put("restore", () -> new CommandLine(new RestoreCommand(terminal)));
        commands.put("demo", () -> new CommandLine(new DemoCommand(terminal, root)));
        commands.put(
                "policy",
                () -> new CommandLine(new PolicyCommand())
                        .addSubcommand(new PresetsCommand(terminal))
                        .addSubcommand(new PreviewCommand(terminal))
                        .addSubcommand(new LintCommand(terminal))
                        .addSubcommand(new PolicyApplyCommand(terminal)));
        commands.put("simulate", () -> SimulateCommands.line(terminal));
        commands.put(
                "schema",
                () -> new CommandLine(new SchemaCommand())
                        .addSubcommand(new SchemaPrintCommand(terminal))
                        .addSubcommand(new SchemaExportCommand(terminal)));
        commands.put(COMPLETION, () -> new CommandLine(new CompletionCommand(terminal)));
        return commands;
    }

    private static Duration duration(String text) {
        try {
            return Durations.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    @Command(
            name = "policy",
            description = "Look at retry policies: presets, preview, lint; and apply them to jobs that wait.",
            synopsisSubcommandLabel = "COMMAND",
            footer = {
                "",
                "Examples:",
                "  reprise policy presets",
                "  reprise policy preview --preset omniq --max-retries 5 --jitter full"
            })
    static final class PolicyCommand {
        @Mixin
        RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();
    }

    @Command(
            name = "apply",
            description =
                    "Give a policy to jobs that wait: a job keeps the policy that it was enqueued with otherwise.",
            footer = {
                "",
                "Jobs that run or have ended are refused, and jobs whose deadline under the policy is past.",
                "Attempts that were spent stay spent. Ctrl-C only ends the watching: the server goes on.",
                "",
                "Examples:",
                "  reprise policy apply patient --to 'type:bill state:pending' --dry-run",
                "  reprise policy apply '{\"maxAttempts\":50}' --to 'queue:mail state:pending' --why 'a long outage'"
            })
    static final class PolicyApplyCommand extends LinkedCommand {

        @Parameters(paramLabel = "NAME|JSON", description = "A preset, a stored policy, or the fields of one.")
        String policy = "";

        @Mixin
        BulkOptions bulk = new BulkOptions();

        @Mixin
        Why why = new Why();

        PolicyApplyCommand(Terminal terminal) {
            super(terminal);
        }

        @Override
        public Integer call() {
            BadInput.require(bulk.to != null, "Say to which jobs: --to 'type:bill state:pending'");
            ObjectNode order = why.body().put("action", "change");
            order.putObject("change").set("policy", OptionText.policy("NAME", policy));
            return with(link -> bulk.start(terminal, json, link, order));
        }
    }

    @Command(
            name = "schema",
            description = "The tables Reprise keeps its jobs in.",
            synopsisSubcommandLabel = "COMMAND",
            footer = {
                "",
                "Examples:",
                "  reprise schema print --dialect postgresql > reprise.sql",
                "  reprise schema export --format flyway --dialect postgresql db/reprise"
            })
    static final class SchemaCommand {
        @Mixin
        RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();
    }
}
