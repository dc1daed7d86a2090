// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.schema;

import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.base.Stores;
import io.reprise.cli.terminal.Terminal;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "print",
        description = "Print the SQL that creates the tables, for people who run their own migrations.",
        footer = {"", "Example:", "  reprise schema print --dialect postgresql > reprise.sql"})
public final class SchemaPrintCommand implements Callable<Integer> {

    private final Terminal terminal;

    @Option(
            names = "--dialect",
            required = true,
            paramLabel = "NAME",
            description = "postgresql, mysql, mariadb or sqlite.")
    String dialect = "";

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    public SchemaPrintCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        terminal.out().print(Stores.schema(dialect));
        return ExitCode.OK;
    }
}
