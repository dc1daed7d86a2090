// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.cli.simulate.SimulationEndpoints;
import io.reprise.job.AuditNote;
import io.reprise.server.RepriseServer;
import io.reprise.server.api.Outgoing;
import io.reprise.server.auth.Keys;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A server with trouble in it, a client with an admin's key, and a browser that is logged in. */
final class World implements AutoCloseable {

    /** Text that would run, or turn the text around it, if it were not shown as text. */
    static final String HOSTILE =
            "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>\u202Egnihton";

    static final String BIG = "9007199254740993123";

    private final HttpClient client = HttpClient.newHttpClient();
    private final Chromium chromium = Chromium.start();
    final RepriseServer server;
    final String admin;
    final String reader;
    /** Requests that left the origin, and errors of the page. */
    final List<String> bad = new ArrayList<>();

    /** A world with trouble to look at. */
    static World troubled(Path folder, Kind kind) {
        World world = new World(kind.open(folder), builder());
        world.seed();
        return world;
    }

    static RepriseBuilder builder() {
        return Reprise.builder().poll(Duration.ofMillis(50)).threads(2);
    }

    /** A world with these handlers, and with what the store holds. */
    World(JobStore store, RepriseBuilder builder) {
        store.prepare();
        Keys keys = new Keys(store, InstantSource.system());
        admin = keys.create("admin", Set.of(Scope.ADMIN), null, new AuditNote("test", null))
                .text();
        reader = keys.create("reader", Set.of(Scope.READ), null, new AuditNote("test", null))
                .text();
        try {
            server = RepriseServer.start(
                    builder.migrate(false),
                    store,
                    new RepriseServer.Parts(
                            "test-server",
                            "test",
                            new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                            100_000,
                            new Outgoing(
                                    store, new OutboundGuard(List.of(), Set.of(), Resolver.SYSTEM), List.of(), null),
                            List.of(SimulationEndpoints::new)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Dead letters in groups, jobs that wait, a breaker that is forced open, a schedule, a policy, a subscription. */
    private void seed() {
        String payload = "{\"order\":" + BIG + ",\"note\":" + json(HOSTILE) + "}";
        for (int i = 0; i < 12; i++) {
            post(
                    "/v1/jobs",
                    "{\"type\":\"charge-card\",\"queue\":\"payments\",\"resource\":\"acquirer\",\"maxAttempts\":1,"
                            + "\"tags\":[\"may\"],\"payload\":" + payload + "}");
        }
        failAll("payments", 12, "{\"type\":\"CardDeclined\",\"message\":\"the card was declined\",\"permanent\":true}");
        post(
                "/v1/jobs",
                "{\"type\":" + json(HOSTILE.substring(0, 20).replaceAll("[^a-z]", "") + "-hostile")
                        + ",\"queue\":\"odd\",\"key\":" + json(HOSTILE) + ",\"payload\":" + json(HOSTILE) + "}");
        failAll(
                "odd",
                1,
                "{\"type\":" + json(HOSTILE) + ",\"message\":" + json(HOSTILE) + ",\"code\":\"x\",\"permanent\":true}");
        post(
                "/v1/jobs",
                "{\"type\":\"send-email\",\"queue\":\"mail\",\"policy\":{\"base\":\"1h\",\"jitter\":\"equal\",\"maxAttempts\":6}}");
        failAll("mail", 1, "{\"type\":\"Busy\",\"message\":\"451 mailbox busy\"}");
        post("/v1/jobs", "{\"type\":\"send-email\",\"queue\":\"mail\",\"delay\":\"2h\"}");
        steps();
        batches();
        groups();
        post("/v1/queues/mail/pause", "{\"why\":\"the provider moves to another host\"}");
        post("/v1/resources/acquirer/force-open", "{\"why\":\"maintenance\"}");
        put("/v1/schedules/nightly", "{\"cron\":\"0 3 * * *\",\"job\":{\"type\":\"report\",\"queue\":\"reports\"}}");
        put("/v1/policies/careful", "{\"base\":\"2s\",\"factor\":3,\"cap\":\"1h\",\"maxAttempts\":6}");
        post(
                "/v1/webhooks",
                "{\"url\":\"https://hooks.example.org/x\",\"enabled\":false,\"description\":\"dead letters to the chat\"}");
    }

    /** One job that waits for an event, and one of which nobody knows whether its step was done. */
    private void steps() {
        String job = "{\"type\":\"fulfil-order\",\"queue\":\"fulfil\",\"group\":\"shop-7\"}";
        post("/v1/jobs", job);
        String waits = lease("fulfil");
        post("/v1/leases/" + waits + "/step", "{\"name\":\"reserve\",\"result\":{\"shelf\":" + BIG + "}}");
        post("/v1/leases/" + waits + "/await", "{\"name\":\"approval\",\"duration\":\"2h\"}");
        post("/v1/jobs", job);
        String unknown = lease("fulfil");
        post("/v1/leases/" + unknown + "/step", "{\"name\":\"reserve\",\"result\":{\"shelf\":12}}");
        post("/v1/leases/" + unknown + "/step", "{\"name\":\"charge\",\"started\":true}");
        post("/v1/leases/" + unknown + "/fail", "{\"type\":\"Timeout\",\"message\":\"no answer\",\"permanent\":true}");
    }

    /** One batch that is under way with a dead member, and one that still takes members. */
    private void batches() {
        put(
                "/v1/batches/import-7",
                "{\"onSuccess\":{\"type\":\"report\",\"queue\":\"reports\"},\"onEnd\":{\"type\":\"clean\",\"queue\":\"reports\"}}");
        String part = "{\"type\":\"import-part\",\"queue\":\"imports\",\"maxAttempts\":1,\"payload\":{\"rows\":" + BIG
                + "},\"then\":[{\"type\":\"index-part\",\"queue\":\"imports\"}]}";
        post("/v1/batches/import-7/jobs", "[" + part + "," + part + "," + part + "," + part + "]");
        post("/v1/batches/import-7/close", "{}");
        failAll("imports", 1, "{\"type\":\"BadRow\",\"message\":\"row 17 has no date\",\"permanent\":true}");
        post("/v1/leases/" + lease("imports") + "/complete", "{}");
        put("/v1/batches/import-8", "{}");
        post("/v1/batches/import-8/jobs", "{\"type\":\"import-part\",\"queue\":\"later\",\"delay\":\"1h\"}");
    }

    /** A queue with a noisy group, jobs with needs, limits and a service level. */
    private void groups() {
        put(
                "/v1/settings/queues/orders",
                "{\"startWithin\":\"1ms\",\"perGroup\":{\"*\":{\"running\":5},\"shop-7\":{\"inOrder\":true}},"
                        + "\"perType\":{\"pack\":{\"starts\":100,\"per\":\"1m\",\"burst\":20}},\"weights\":{\"gold-*\":5}}");
        for (int i = 0; i < 9; i++) {
            post(
                    "/v1/jobs",
                    "{\"type\":\"pack\",\"queue\":\"orders\",\"group\":\"shop-" + (i < 6 ? 7 : i + 10) + "\"}");
        }
        post("/v1/jobs", "{\"type\":\"pack\",\"queue\":\"orders\",\"needs\":[\"gpu\",\"eu\"]}");
        put("/v1/queues/orders", "{\"maxRunning\":50}");
    }

    String lease(String queue) {
        return post(
                        "/v1/leases",
                        "{\"worker\":\"w\",\"wait\":\"20s\",\"lease\":\"10m\",\"queues\":[\"" + queue + "\"]}")
                .replaceFirst("(?s).*?\"token\":\"([^\"]+)\".*", "$1");
    }

    void failAll(String queue, int count, String failure) {
        for (int left = count; left > 0; left--) {
            post("/v1/leases/" + lease(queue) + "/fail", failure);
        }
    }

    static String json(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    String get(String path) {
        return send("GET", path, null, admin).body();
    }

    String post(String path, String body) {
        return good(send("POST", path, body, admin));
    }

    String put(String path, String body) {
        return good(send("PUT", path, body, admin));
    }

    private static String good(HttpResponse<String> answer) {
        if (answer.statusCode() >= 300) {
            throw new AssertionError(answer.statusCode() + " " + answer.body());
        }
        return answer.body();
    }

    HttpResponse<String> send(String method, String path, @Nullable String body, String key) {
        try {
            return client.send(
                    HttpRequest.newBuilder(URI.create(server.url() + path))
                            .header("Authorization", "Bearer " + key)
                            .header("Content-Type", "application/json")
                            .method(
                                    method,
                                    body == null
                                            ? HttpRequest.BodyPublishers.noBody()
                                            : HttpRequest.BodyPublishers.ofString(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns a page of a browser of its own that has logged in with a key. */
    Page login(String key) {
        BrowserContext context = chromium.browser.newContext();
        Page page = context.newPage();
        page.setDefaultTimeout(60_000);
        page.onRequest(request -> {
            if (!request.url().startsWith(server.url())) {
                bad.add("request to " + request.url());
            }
        });
        page.onPageError(error -> bad.add("error " + error));
        page.onConsoleMessage(message -> {
            if (message.type().equals("error") && message.text().contains("Content Security Policy")) {
                bad.add(message.text());
            }
        });
        page.navigate(server.url() + "/");
        page.locator("#key").fill(key);
        page.locator("button[type=submit]").click();
        page.locator("nav.side").waitFor();
        return page;
    }

    /** Opens a screen and waits until it shows something. */
    void open(Page page, String screen) {
        page.navigate(server.url() + "/#" + screen);
        page.waitForFunction("path => location.hash.slice(1) === path && document.querySelector('main h1')", screen);
        page.locator("main h1").first().waitFor();
    }

    /** Closes every page. A page that is left open asks and draws every second. */
    void leave() {
        List.copyOf(chromium.browser.contexts()).forEach(BrowserContext::close);
    }

    @Override
    public void close() {
        server.close();
        chromium.close();
    }
}
