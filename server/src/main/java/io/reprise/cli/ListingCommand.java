// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.terminal.Terminal;
import io.reprise.cli.terminal.TextTable;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import tools.jackson.databind.JsonNode;

/** A command on things of one kind. Without a subcommand it lists them. */
abstract class ListingCommand extends LinkedCommand {

    private final String things;

    ListingCommand(Terminal terminal, String things) {
        super(terminal);
        this.things = things;
    }

    @Override
    public Integer call() {
        return listAll();
    }

    int listAll() {
        return with(link -> {
            JsonNode all = all(link, ServerTarget.of(things));
            return answer(all, () -> print(all.path("items")));
        });
    }

    /** Returns all items as one page. */
    JsonNode all(Link link, ServerTarget target) {
        return link.get(target);
    }

    private void print(JsonNode items) {
        if (items.isEmpty()) {
            terminal.out().println("No " + things + ".");
            return;
        }
        TextTable table = table();
        items.forEach(item -> table.add(row(item)));
        table.print(terminal.out());
    }

    /** Returns a table with its headings. */
    abstract TextTable table();

    abstract Object[] row(JsonNode item);
}
