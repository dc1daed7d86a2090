// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.server.config.Durations;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.TypeConversionException;

/** The whole command line: {@code reprise} and its commands. */
@Command(
        name = "reprise",
        description = "A durable job queue whose heart is retry control.",
        versionProvider = RepriseCommand.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "Examples:",
            "  reprise demo                               watch jobs fail and recover",
            "  reprise serve                              the server, on reprise.db",
            "  reprise jobs list --state failed           what has failed?",
            "  reprise dead replay --fingerprint 8c1f     put a group back, canary first",
            "  reprise policy preview --preset conduit    when would the retries come?",
            "  reprise policy lint policy.json            is anything odd about it?",
            "  reprise simulate outage --rate 20          which policy survives an outage?",
            "  reprise schema print --dialect postgresql  the tables, to migrate yourself",
            "",
            "Exit codes: 0 fine, 1 a finding, 2 bad input or refused, 70 nobody answers or an",
            "internal error."
        })
final class RepriseCommand {

    /** The completion command needs to know all other commands. */
    private static final String COMPLETION = "completion";

    @Mixin
    HelpOption help = new HelpOption();

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Print the version and exit.")
    boolean version;

    @Option(
            names = "--verbose",
            scope = ScopeType.INHERIT,
            description = "Log more to standard error, and show stack traces.")
    boolean verbose;

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
        return line.registerConverter(Duration.class, RepriseCommand::duration)
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
        commands.put("resources", () -> new CommandLine(new ResourcesCommand(terminal)));
        commands.put("schedules", () -> new CommandLine(new SchedulesCommand(terminal)));
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
                        .addSubcommand(new LintCommand(terminal)));
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

    /** {@code -h}, which every command has. */
    static final class HelpOption {
        @Option(
                names = {"-h", "--help"},
                usageHelp = true,
                description = "Show this help and exit.")
        boolean help;
    }

    /** Prints the version and the Java version, for bug reports. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            String own = RepriseCommand.class.getPackage().getImplementationVersion();
            return new String[] {
                "reprise " + (own == null ? "(not packaged)" : own) + ", Java " + System.getProperty("java.version")
            };
        }
    }

    @Command(
            name = "policy",
            description = "Look at retry policies: presets, preview, lint.",
            synopsisSubcommandLabel = "COMMAND",
            footer = {
                "",
                "Examples:",
                "  reprise policy presets",
                "  reprise policy preview --preset omniq --max-retries 5 --jitter full"
            })
    static final class PolicyCommand {
        @Mixin
        HelpOption help = new HelpOption();
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
        HelpOption help = new HelpOption();
    }
}
