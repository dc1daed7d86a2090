// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.CompletionCommand;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.demo.DemoCommand;
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
import picocli.CommandLine.TypeConversionException;

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
        commands.put("policy", () -> PolicyCommands.line(terminal));
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
