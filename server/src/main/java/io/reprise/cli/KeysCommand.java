// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.Why;
import io.reprise.cli.terminal.Cells;
import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.http.Json;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "keys",
        description = "Look at API keys, make, rotate and revoke them. Without a command: list.",
        synopsisSubcommandLabel = "[COMMAND]",
        footer = {
            "",
            "Examples:",
            "  reprise keys",
            "  reprise keys create shop --scope enqueue,read",
            "  reprise keys create rescue --scope admin --store sqlite:reprise.db    # lost?"
        })
final class KeysCommand extends ListingCommand {

    private static final int MAX_PER_SECOND = 100_000;

    KeysCommand(Terminal terminal) {
        super(terminal, "keys");
    }

    @Command(
            name = "list",
            description = "List keys, without their secrets.",
            footer = {"", "Example:", "  reprise keys list"})
    int list() {
        return listAll();
    }

    @Override
    JsonNode all(Link link, ServerTarget target) {
        return pages(link, target, MAX_PER_SECOND, null);
    }

    @Override
    TextTable table() {
        return new TextTable("id", "name", "scopes", "tenant", "owner", "last used", "expires", "created");
    }

    @Override
    Object[] row(JsonNode each) {
        return new Object[] {
            Cells.text(each.path("id")),
            Cells.text(each.path("name")),
            Cells.text(each.path("scopes")),
            Cells.text(each.path("tenant")),
            Cells.text(each.path("owner")),
            Cells.time(each.path("lastUsedAt")),
            Cells.time(each.path("expiresAt")),
            Cells.time(each.path("createdAt"))
        };
    }

    @Command(
            name = "create",
            description = "Make a key. It is printed to standard output, this once.",
            footer = {"", "Example:", "  KEY=$(reprise keys create shop --scope enqueue,read --tenant acme)"})
    int create(
            @Parameters(paramLabel = "NAME", description = "What the key is called, also in the audit log.")
                    String name,
            @Option(
                            names = "--scope",
                            paramLabel = "SCOPE",
                            split = ",",
                            required = true,
                            description = "read, enqueue, work, operate or admin; several with commas between.")
                    List<String> scopes,
            @Option(names = "--tenant", paramLabel = "NAME", description = "Whose jobs it may see; all unless given.")
                    @Nullable
                    String tenant,
            @Option(names = "--owner", paramLabel = "WHO", description = "Who answers for it.") @Nullable String owner,
            @Option(
                            names = "--expires",
                            paramLabel = "TIME",
                            description = "When it counts no more, such as 2027-01-01T00:00:00Z.")
                    @Nullable
                    String expires,
            @Option(
                            names = "--queue",
                            paramLabel = "NAME",
                            split = ",",
                            description = "Jobs it puts in and takes out must be in these queues.")
                    @Nullable
                    List<String> queues,
            @Option(
                            names = "--type",
                            paramLabel = "NAME",
                            split = ",",
                            description = "Jobs it puts in and takes out must be of these types.")
                    @Nullable
                    List<String> types,
            @Option(
                            names = "--address",
                            paramLabel = "RANGE",
                            split = ",",
                            description = "Addresses and ranges it may be used from, such as 10.0.0.0/8.")
                    @Nullable
                    List<String> addresses,
            @Mixin Why why) {
        ObjectNode body = why.body().put("name", name);
        body.set("scopes", Json.tree(scopes));
        put(body, "owner", owner);
        put(body, "expiresAt", expires);
        put(body, "queues", queues);
        put(body, "types", types);
        put(body, "addresses", addresses);
        put(body, "tenant", tenant);
        return with(link -> shown(link.post(ServerTarget.of("keys"), body), "is made"));
    }

    private static void put(ObjectNode body, String name, @Nullable Object value) {
        if (value != null) {
            body.set(name, Json.tree(value));
        }
    }

    @Command(
            name = "rotate",
            description = "Give a key a new secret. The key is printed to standard output, this once.",
            footer = {"", "Example:", "  reprise keys rotate 3f9a0c12be77 --grace 1h"})
    int rotate(
            @Parameters(paramLabel = "ID", description = "Id of the key.") String id,
            @Option(names = "--grace", paramLabel = "TIME", description = "So long the old secret still counts.")
                    @Nullable
                    String grace,
            @Mixin Why why) {
        ObjectNode body = why.body();
        if (grace != null) {
            body.put("grace", grace);
        }
        return with(link -> shown(link.post(ServerTarget.of("keys", id, "rotate"), body), "has a new secret"));
    }

    private int shown(JsonNode made, String what) {
        terminal.err()
                .println("Key " + Cells.text(made.path("id")) + " " + what
                        + ". It is shown once and stored nowhere else:");
        return answer(made, "%s", Cells.text(made.path("key")));
    }

    @Command(
            name = "revoke",
            description = "Revoke keys for good.",
            footer = {"", "Example:", "  reprise keys revoke 3f9a0c12be77"})
    int revoke(@Parameters(paramLabel = "ID", arity = "1..*", description = "Ids of keys.") List<String> ids) {
        return with(link -> each(ids, id -> {
            link.call("DELETE", ServerTarget.of("keys", id), null);
            return answer(Json.object().put("revoked", id), "Key %s is revoked", id);
        }));
    }
}
