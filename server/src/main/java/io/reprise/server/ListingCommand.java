// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.server.client.Link;
import io.reprise.server.client.Target;
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
            JsonNode all = all(link, Target.of(things));
            return answer(all, () -> print(all.path("items")));
        });
    }

    /** Returns all items as one page. */
    JsonNode all(Link link, Target target) {
        return link.get(target);
    }

    private void print(JsonNode items) {
        if (items.isEmpty()) {
            terminal.out().println("No " + things + ".");
            return;
        }
        Table table = table();
        items.forEach(item -> table.add(row(item)));
        table.print(terminal.out());
    }

    /** Returns a table with its headings. */
    abstract Table table();

    abstract Object[] row(JsonNode item);
}
