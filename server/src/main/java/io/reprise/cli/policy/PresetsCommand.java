// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.policy;

import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.terminal.JsonOutput;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

@Command(
        name = "presets",
        description = "List the policies that come with Reprise.",
        footer = {
            "",
            "In the column delays, n is the number of the retry, from 1.",
            "",
            "Examples:",
            "  reprise policy presets",
            "  reprise policy presets --json"
        })
public final class PresetsCommand implements Callable<Integer> {

    private final Terminal terminal;

    @Mixin
    RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();

    @Option(names = "--json", description = "Print JSON, with each policy as 'policy preview --file' reads it.")
    boolean json;

    public PresetsCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    /** One preset. {@code maxAttempts} null means unlimited. */
    record Listed(String name, String description, @Nullable Integer maxAttempts, JsonNode policy) {}

    @Override
    public Integer call() {
        if (json) {
            List<Listed> all =
                    Presets.names().stream().map(PresetsCommand::listed).toList();
            terminal.out().println(JsonOutput.write(all));
        } else {
            printTable();
        }
        return ExitCode.OK;
    }

    private static Listed listed(String name) {
        RetryPolicy policy = Presets.get(name);
        Integer limit = policy.complete().maxAttempts().toOptional().orElse(null);
        return new Listed(
                name, Presets.describe(name), limit, JsonOutput.mapper().readTree(policy.toJson()));
    }

    private void printTable() {
        TextTable table = new TextTable("preset", ">attempts", "delays", ">cap", "jitter", "description");
        for (String name : Presets.names()) {
            RetryPolicy policy = Presets.get(name);
            boolean retries = !policy.complete().maxAttempts().toOptional().equals(java.util.Optional.of(1));
            table.add(
                    name,
                    PolicyText.attempts(policy),
                    retries ? PolicyText.backoff(policy) : "-",
                    retries ? PolicyText.cap(policy) : "-",
                    retries ? PolicyText.jitter(policy) : "-",
                    Presets.describe(name));
        }
        table.lines().forEach(terminal.out()::println);
    }
}
