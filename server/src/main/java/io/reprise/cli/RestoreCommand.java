// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.base.StoreOption;
import io.reprise.cli.base.Stores;
import io.reprise.cli.terminal.Terminal;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "restore",
        description = {
            "Make a store that came back from a backup fit for use: ids and tokens go on beyond what was",
            "given out since, and no lease holds. Run it once, before any server starts on the store."
        },
        footer = {"", "Example:", "  cp jobs-monday.db reprise.db && reprise restore --store sqlite:reprise.db"})
final class RestoreCommand implements Callable<Integer> {

    private final Terminal terminal;

    @Option(names = "--force", description = "Even if a worker was there a minute ago, as the backup says.")
    boolean force;

    @Mixin
    StoreOption store = new StoreOption();

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    RestoreCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Stores.afterRestore(store.settings(), force);
        terminal.out().println("The store is fit for use");
        return ExitCode.OK;
    }
}
