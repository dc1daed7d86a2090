// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.terminal.Terminal;
import io.reprise.server.client.LinkException;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code reprise} program. */
public final class Main {

    private static final int MAX_MESSAGE = 1_000;

    private Main() {}

    public static void main(String[] args) {
        Terminal terminal = Terminal.system();
        int code = run(terminal, args);
        terminal.out().flush();
        terminal.err().flush();
        System.exit(code);
    }

    /** Runs one command and returns its exit code. Never throws for an error of the user. */
    static int run(Terminal terminal, String... args) {
        RepriseCommand root = new RepriseCommand();
        CommandLine line = Commands.line(root, terminal, args);
        line.setParameterExceptionHandler((failure, all) -> refuse(failure, terminal));
        line.setExecutionExceptionHandler((failure, command, parsed) -> report(failure, root, terminal));
        line.setExecutionStrategy(parsed -> start(parsed, root));
        return line.execute(args);
    }

    private static int start(ParseResult parsed, RepriseCommand root) {
        if (root.verbose) {
            // logback.xml reads it when the first logger is created. No class loaded so far has created one.
            System.setProperty("reprise.log.level", "INFO");
        }
        return new CommandLine.RunLast().execute(parsed);
    }

    private static int refuse(CommandLine.ParameterException failure, Terminal terminal) {
        CommandLine command = failure.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        terminal.err().println("reprise: " + shortened(String.valueOf(failure.getMessage())));
        if (!UnmatchedArgumentException.printSuggestions(failure, terminal.err())
                && !command.getSubcommands().isEmpty()) {
            terminal.err()
                    .println("Commands of " + name + ": "
                            + String.join(", ", command.getSubcommands().keySet()));
        }
        terminal.err().println("Try '" + name + " --help'.");
        terminal.err().flush();
        return ExitCode.BAD_INPUT;
    }

    /** A message may quote what the user typed, which may be a whole file. */
    private static String shortened(String message) {
        return message.length() <= MAX_MESSAGE ? message : message.substring(0, MAX_MESSAGE) + "…";
    }

    private static int report(Exception failure, RepriseCommand root, Terminal terminal) {
        boolean known = failure instanceof BadInput || failure instanceof LinkException;
        boolean users = failure instanceof LinkException link ? link.isRefused() : known;
        String what = known ? failure.getMessage() : "internal error: " + failure;
        terminal.err().println("reprise: " + what);
        if (root.verbose) {
            failure.printStackTrace(terminal.err());
        } else if (!known) {
            terminal.err().println("Run it with --verbose for the details.");
        }
        terminal.err().flush();
        return users ? ExitCode.BAD_INPUT : ExitCode.INTERNAL;
    }
}
