// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.BadInput;
import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.Stores;
import io.reprise.cli.terminal.Terminal;
import io.reprise.job.RepriseException;
import io.reprise.server.LocalApi;
import io.reprise.server.client.HttpLink;
import io.reprise.server.client.Link;
import io.reprise.server.client.LinkException;
import io.reprise.server.client.ServerTarget;
import io.reprise.server.client.StoreLink;
import io.reprise.server.config.Setting;
import io.reprise.server.config.Settings;
import io.reprise.server.http.Json;
import io.reprise.store.JobStore;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Base of the commands on a queue: how they reach it, over HTTP or in its store, and how they print answers. */
abstract class LinkedCommand implements Callable<Integer> {

    final Terminal terminal;

    @Option(
            names = {"--server", "--server-url"},
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "The server to talk to; http://127.0.0.1:8080 unless set. Also REPRISE_SERVER_URL.")
    @Nullable
    String server;

    @Option(
            names = {"--key", "--server-key"},
            scope = ScopeType.INHERIT,
            paramLabel = "KEY",
            description = "The API key. Better in REPRISE_SERVER_KEY, which other users of the machine cannot see.")
    @Nullable
    String key;

    @Option(
            names = {"--store", "--store-url"},
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "Work straight on this store instead: a URL as 'reprise serve --store' takes it.")
    @Nullable
    String store;

    @Option(
            names = "--config",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "A properties file with settings.")
    @Nullable
    Path config;

    @Option(names = "--json", scope = ScopeType.INHERIT, description = "Answer in JSON, as the HTTP API does.")
    boolean json;

    @Option(
            names = {"-h", "--help"},
            scope = ScopeType.INHERIT,
            usageHelp = true,
            description = "Show this help and exit.")
    boolean help;

    LinkedCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Opens a link, does the work, and closes the link. */
    int with(ToIntFunction<Link> work) {
        try (Link link = open()) {
            return work.applyAsInt(link);
        }
    }

    /**
     * A flag decides first, then the settings, the server before the store. The default is the
     * server at its default address.
     */
    private Link open() {
        if (server != null && store != null) {
            throw new BadInput("--server and --store must not be given together");
        }
        Settings settings = settings();
        boolean toServer = store == null
                && (server != null
                        || settings.isGiven(Setting.SERVER_URL)
                        || settings.isGiven(Setting.SERVER_KEY)
                        || !settings.isGiven(Setting.STORE_URL));
        return toServer ? toServer(settings) : toStore(settings);
    }

    private Settings settings() {
        Map<Setting, String> flags = new EnumMap<>(Setting.class);
        put(flags, Setting.SERVER_URL, server);
        put(flags, Setting.SERVER_KEY, key);
        put(flags, Setting.STORE_URL, store);
        try {
            return Settings.read(config, System.getenv(), flags);
        } catch (Settings.InvalidSettings e) {
            throw new BadInput(String.valueOf(e.getMessage()), e);
        }
    }

    private static void put(Map<Setting, String> flags, Setting setting, @Nullable String value) {
        if (value != null) {
            flags.put(setting, value);
        }
    }

    private static Link toServer(Settings settings) {
        try {
            return new HttpLink(settings.text(Setting.SERVER_URL), settings.textOrNull(Setting.SERVER_KEY));
        } catch (IllegalArgumentException e) {
            throw new BadInput("server.url: " + e.getMessage(), e);
        }
    }

    private static Link toStore(Settings settings) {
        JobStore opened = Stores.openExisting(settings);
        try {
            // A command on a user's machine must not upgrade a schema that others use.
            opened.requirePrepared();
            LocalApi api = new LocalApi("cli-" + UUID.randomUUID(), opened, ServeCommand.outgoing(settings, opened));
            return new StoreLink(api, "cli " + System.getProperty("user.name", "unknown"));
        } catch (RuntimeException e) {
            opened.close();
            throw e instanceof RepriseException unusable ? Stores.unusable(unusable) : e;
        }
    }

    /** Prints the answer as JSON if the user wants that, otherwise runs {@code forPeople}. */
    int answer(JsonNode node, Runnable forPeople) {
        if (json) {
            terminal.out().println(Json.text(node));
        } else {
            forPeople.run();
        }
        return ExitCode.OK;
    }

    /** Prints one line for people. */
    int answer(JsonNode node, String format, Object... values) {
        return answer(node, () -> terminal.out().println(String.format(Locale.ROOT, format, values)));
    }

    /** Does the work for each name. If one is refused, prints why and goes on. */
    int each(List<String> names, ToIntFunction<String> work) {
        int worst = ExitCode.OK;
        for (String name : names) {
            try {
                worst = Math.max(worst, work.applyAsInt(name));
            } catch (LinkException e) {
                if (!e.isRefused()) {
                    throw e;
                }
                String message = String.valueOf(e.getMessage());
                terminal.err().println("reprise: " + (message.contains(name) ? message : name + ": " + message));
                worst = ExitCode.BAD_INPUT;
            }
        }
        return worst;
    }

    /**
     * Looks for warnings after a change that is done. If the key may not look, the change stands: it says so and returns
     * an empty object.
     */
    JsonNode forWarnings(Link link, ServerTarget target) {
        try {
            return link.get(target);
        } catch (LinkException e) {
            if (!e.isRefused()) {
                throw e;
            }
            terminal.err().println("Warnings cannot be shown. " + e.getMessage());
            return Json.object();
        }
    }

    /** Reads pages of a list until there are enough items, and joins them. */
    static ObjectNode pages(Link link, ServerTarget target, int limit, @Nullable String cursor) {
        ObjectNode all = Json.object();
        var items = all.putArray("items");
        String next = cursor;
        do {
            JsonNode page = link.get(
                    target.with("limit", Math.min(1_000, limit - items.size())).with("cursor", next));
            page.path("items").forEach(items::add);
            next = page.path("next").stringValue(null);
        } while (next != null && items.size() < limit);
        all.put("next", next);
        return all;
    }
}
