// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.server.client.Link;
import io.reprise.server.client.ServerTarget;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

/** How many items of a long list the user wants. */
final class PageOptions {

    @Option(names = "--limit", paramLabel = "N", defaultValue = "50", description = "So many at most; 50 unless given.")
    int limit = 50;

    @Option(names = "--cursor", paramLabel = "TEXT", description = "Go on after the page that ended with this 'next'.")
    @Nullable
    String cursor;

    ObjectNode of(Link link, ServerTarget list) {
        BadInput.require(limit > 0, "--limit must be at least 1, not " + limit);
        return LinkedCommand.pages(link, list, limit, cursor);
    }
}
