// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.base.StoreOption;
import io.reprise.cli.base.Stores;
import io.reprise.cli.terminal.Terminal;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "backup",
        description = "Copy a SQLite store while a server works on it. PostgreSQL has pg_dump: see docs/backup.md.",
        footer = {"", "Example:", "  reprise backup jobs-monday.db --store sqlite:reprise.db"})
final class BackupCommand implements Callable<Integer> {

    private final Terminal terminal;

    @Parameters(paramLabel = "FILE", description = "The copy; must not exist.")
    Path file = Path.of("");

    @Mixin
    StoreOption store = new StoreOption();

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    BackupCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Stores.backup(store.settings(), file);
        terminal.out().println("Copied to " + file);
        return ExitCode.OK;
    }
}
