// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.Why;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A command on chosen dead letters: some by id, or all that match. */
abstract class DeadSelection implements Callable<Integer> {

    final DeadCommand dead;

    @Parameters(paramLabel = "ID", arity = "0..*", description = "Ids of dead letters.")
    List<String> ids = List.of();

    @Mixin
    JobFilter filter = new JobFilter();

    @Option(names = "--all", description = "All dead letters there are.")
    boolean all;

    @Option(names = "--dry-run", description = "Only count what matches.")
    boolean dryRun;

    @Mixin
    Why why = new Why();

    DeadSelection(DeadCommand dead) {
        this.dead = dead;
    }

    @Override
    public Integer call() {
        BadInput.require(
                ids.isEmpty() != (filter.isEmpty() && !all),
                "Say which: ids, or options such as --fingerprint and --queue, or --all; but not both");
        return ids.isEmpty() ? matching() : byId();
    }

    abstract int byId();

    abstract int matching();
}
