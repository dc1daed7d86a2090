// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.BulkOptions;
import io.reprise.cli.base.OptionText;
import io.reprise.cli.base.RepriseCommand;
import io.reprise.cli.base.Warnings;
import io.reprise.cli.base.Why;
import io.reprise.cli.policy.LintCommand;
import io.reprise.cli.policy.PolicyFile;
import io.reprise.cli.policy.PolicyText;
import io.reprise.cli.policy.PresetsCommand;
import io.reprise.cli.policy.PreviewCommand;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** {@code reprise policy}. The first three commands need no queue, the others work on one. */
final class PolicyCommands {

    /** More than all tenants keep. */
    private static final int ALL = 10_000_000;

    private PolicyCommands() {}

    static CommandLine line(Terminal terminal) {
        return new CommandLine(new PolicyCommand())
                .addSubcommand(new PresetsCommand(terminal))
                .addSubcommand(new PreviewCommand(terminal))
                .addSubcommand(new LintCommand(terminal))
                .addSubcommand(new ListCommand(terminal))
                .addSubcommand(new ShowCommand(terminal))
                .addSubcommand(new SetCommand(terminal))
                .addSubcommand(new RemoveCommand(terminal))
                .addSubcommand(new ApplyCommand(terminal));
    }

    @Command(
            name = "policy",
            description = "Look at retry policies, store them under a name, and apply them to jobs that wait.",
            synopsisSubcommandLabel = "COMMAND",
            footer = {
                "",
                "Examples:",
                "  reprise policy presets",
                "  reprise policy preview --preset omniq --max-retries 5 --jitter full",
                "  reprise policy set patient patient.json"
            })
    static final class PolicyCommand {
        @Mixin
        RepriseCommand.HelpOption help = new RepriseCommand.HelpOption();
    }

    @Command(
            name = "list",
            description = "List the policies that are stored under a name; 'policy presets' lists the others.",
            footer = {"", "Example:", "  reprise policy list"})
    static final class ListCommand extends LinkedCommand {

        ListCommand(Terminal terminal) {
            super(terminal);
        }

        @Override
        public Integer call() {
            return with(link -> {
                ObjectNode page = Json.object();
                var stored = page.putArray("items");
                pages(link, ServerTarget.of("policies"), ALL, null)
                        .path("items")
                        .forEach(each -> {
                            if (!each.path("preset").booleanValue(false)) {
                                stored.add(each);
                            }
                        });
                page.putNull("next");
                return answer(page, () -> print(stored));
            });
        }

        private void print(JsonNode stored) {
            if (stored.isEmpty()) {
                terminal.out().println("No stored policies.");
                return;
            }
            TextTable table = new TextTable("policy", ">version", ">attempts", "delays", ">cap", "jitter");
            stored.forEach(each -> {
                RetryPolicy policy = policy(each);
                table.add(
                        Cells.text(each.path("name")),
                        Cells.text(each.path("version")),
                        PolicyText.attempts(policy),
                        PolicyText.backoff(policy),
                        PolicyText.cap(policy),
                        PolicyText.jitter(policy));
            });
            table.print(terminal.out());
        }
    }

    private static RetryPolicy policy(JsonNode named) {
        return RetryPolicy.fromJson(named.path("policy").toString());
    }

    @Command(
            name = "show",
            description = "Print a policy as JSON, stored or preset.",
            footer = {
                "",
                "Examples:",
                "  reprise policy show patient",
                "  reprise policy show patient | reprise policy preview --file -"
            })
    static final class ShowCommand extends LinkedCommand {

        @Parameters(paramLabel = "NAME", description = "Name of the policy.")
        String name = "";

        ShowCommand(Terminal terminal) {
            super(terminal);
        }

        @Override
        public Integer call() {
            return with(link -> {
                JsonNode named = link.get(ServerTarget.of("policies", name));
                return answer(named, "%s", Json.text(named.path("policy")));
            });
        }
    }

    @Command(
            name = "set",
            description = "Store a policy under a name, or replace the one of this name.",
            footer = {
                "",
                "Jobs that wait keep the policy that they were enqueued with: see 'policy apply'.",
                "Warnings are those of 'policy lint'; the policy is stored nevertheless.",
                "",
                "Examples:",
                "  reprise policy set patient patient.json",
                "  reprise policy set patient '{\"maxAttempts\":50,\"cap\":\"2h\"}' --why 'long outages'",
                "  reprise policy show omniq | reprise policy set mine -"
            })
    static final class SetCommand extends LinkedCommand {

        @Parameters(index = "0", paramLabel = "NAME", description = "Name of the policy; not that of a preset.")
        String name = "";

        @Parameters(
                index = "1",
                paramLabel = "FILE|JSON",
                description = "A policy file, - for standard input, or the fields of a policy.")
        String policy = "";

        @Mixin
        Why why = new Why();

        SetCommand(Terminal terminal) {
            super(terminal);
        }

        @Override
        public Integer call() {
            JsonNode body = policy.startsWith("{")
                    ? OptionText.json("The policy", policy)
                    : OptionText.json(
                            policy, PolicyFile.read(policy, terminal.in()).text());
            return with(link -> {
                JsonNode stored =
                        link.call("PUT", ServerTarget.of("policies", name).with("why", why.text), body);
                warn(link, body);
                return answer(stored, "Policy %s is stored: %s", name, PolicyText.attemptsAndRetries(policy(stored)));
            });
        }

        private void warn(Link link, JsonNode body) {
            link.post(ServerTarget.of("policies", "lint"), body)
                    .path("items")
                    .forEach(each -> terminal.err()
                            .println(Warnings.text(new RetryPlan.Warning(
                                    Cells.text(each.path("code")), Cells.text(each.path("message"))))));
        }
    }

    @Command(
            name = "remove",
            description = "Remove stored policies; jobs that were enqueued with them keep them.",
            footer = {"", "Example:", "  reprise policy remove patient"})
    static final class RemoveCommand extends LinkedCommand {

        @Parameters(paramLabel = "NAME", arity = "1..*", description = "Names of stored policies.")
        List<String> names = List.of();

        @Mixin
        Why why = new Why();

        RemoveCommand(Terminal terminal) {
            super(terminal);
        }

        @Override
        public Integer call() {
            return with(link -> each(names, name -> {
                link.call("DELETE", ServerTarget.of("policies", name).with("why", why.text), null);
                return answer(Json.object().put("removed", name), "Policy %s is removed", name);
            }));
        }
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
    static final class ApplyCommand extends LinkedCommand {

        @Parameters(paramLabel = "NAME|JSON", description = "A preset, a stored policy, or the fields of one.")
        String policy = "";

        @Mixin
        BulkOptions bulk = new BulkOptions();

        @Mixin
        Why why = new Why();

        ApplyCommand(Terminal terminal) {
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
}
