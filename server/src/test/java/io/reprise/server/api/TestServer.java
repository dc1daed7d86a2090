// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Reprise;
import io.reprise.cli.simulate.SimulationEndpoints;
import io.reprise.encryption.EncryptionKeys;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.AuditNote;
import io.reprise.server.RepriseServer;
import io.reprise.server.auth.Keys;
import io.reprise.server.auth.Oidc;
import io.reprise.server.auth.Quotas;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.http.AnswerCheck;
import io.reprise.server.http.Json;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testkit.servers.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A real server on a real socket, and a client with an admin's key. */
final class TestServer implements AutoCloseable {

    private static volatile @Nullable AnswerCheck check;

    final JobStore store;
    final RepriseServer server;
    final Keys keys;
    final String admin;
    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(Duration.ofMinutes(2)).build();

    TestServer() {
        this(new InMemoryJobStore(), HttpSettings.Limits.DEFAULT, 1_000_000);
    }

    TestServer(JobStore store, HttpSettings.Limits limits, int rate) {
        this(store, new HttpSettings("127.0.0.1", 0, limits, null), rate);
    }

    TestServer(JobStore store, HttpSettings http, int rate) {
        this(store, http, rate, Quotas.Limits.DEFAULT);
    }

    /** One on which tenants may have so much. */
    TestServer(Quotas.Limits quotas) {
        this(
                new InMemoryJobStore(),
                new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                1_000_000,
                quotas);
    }

    /** One of several on a store. */
    TestServer(JobStore store, String name) {
        this(
                store,
                new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                1_000_000,
                Quotas.Limits.DEFAULT,
                null,
                false,
                name,
                null);
    }

    /** One that believes a provider. */
    TestServer(Oidc oidc) {
        this(
                new InMemoryJobStore(),
                new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                1_000_000,
                Quotas.Limits.DEFAULT,
                oidc,
                false);
    }

    /** One whose audit log tells who read payloads. */
    static TestServer thatAuditsReads() {
        return new TestServer(
                new InMemoryJobStore(),
                new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                1_000_000,
                Quotas.Limits.DEFAULT,
                null,
                true);
    }

    /** One that encrypts payloads. */
    TestServer(EncryptionKeys encryption) {
        this(
                new InMemoryJobStore(),
                new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                1_000_000,
                Quotas.Limits.DEFAULT,
                null,
                false,
                "test-server",
                encryption);
    }

    private TestServer(JobStore store, HttpSettings http, int rate, Quotas.Limits quotas) {
        this(store, http, rate, quotas, null, false);
    }

    private TestServer(
            JobStore store,
            HttpSettings http,
            int rate,
            Quotas.Limits quotas,
            @Nullable Oidc oidc,
            boolean auditReads) {
        this(store, http, rate, quotas, oidc, auditReads, "test-server", null);
    }

    private TestServer(
            JobStore store,
            HttpSettings http,
            int rate,
            Quotas.Limits quotas,
            @Nullable Oidc oidc,
            boolean auditReads,
            String name,
            @Nullable EncryptionKeys encryption) {
        this.store = store;
        this.keys = new Keys(store, InstantSource.system());
        try {
            server = RepriseServer.start(
                    Reprise.builder()
                            .poll(Duration.ofMillis(50))
                            .concurrency(20)
                            .threads(2),
                    store,
                    new RepriseServer.Parts(
                            name,
                            "test",
                            http,
                            rate,
                            new Outgoing(
                                    store,
                                    new OutboundGuard(List.of("127.0.0.1"), Set.of(), Resolver.SYSTEM),
                                    List.of(),
                                    encryption),
                            quotas,
                            oidc,
                            auditReads,
                            List.of(SimulationEndpoints::new)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        admin = key("admin", null, Scope.ADMIN);
    }

    /** A fresh database of PostgreSQL if {@code -Dreprise.test.store=postgresql} asks for one, else a file of SQLite. */
    static JobStore namedStore(Path directory) {
        JdbcJobStore store = switch (System.getProperty("reprise.test.store", "sqlite")) {
            case "sqlite" -> JdbcJobStore.sqlite(directory.resolve("jobs.db"));
            case "postgresql" -> JdbcJobStore.open(PostgresServer.shared().freshDatabaseUrl());
            default -> throw new IllegalArgumentException("-Dreprise.test.store is sqlite or postgresql");
        };
        store.prepare();
        return store;
    }

    String key(String name, @Nullable String tenant, Scope... scopes) {
        return keys.create(name, Set.of(scopes), tenant, new AuditNote("test", null))
                .text();
    }

    /** An answer, its body read as JSON if there is one. */
    record Reply(int status, HttpResponse<String> raw) {

        JsonNode json() {
            return Json.parse(raw.body());
        }

        String text(String member) {
            return json().get(member).asString();
        }

        String problem() {
            return text("type").replace("urn:reprise:problem:", "");
        }
    }

    Reply get(String path) {
        return send(admin, "GET", path, null);
    }

    Reply post(String path, String body) {
        return send(admin, "POST", path, body);
    }

    Reply put(String path, String body) {
        return send(admin, "PUT", path, body);
    }

    Reply delete(String path) {
        return send(admin, "DELETE", path, null);
    }

    Reply send(@Nullable String key, String method, String path, @Nullable String body, String... headers) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(server.url() + path)).timeout(Duration.ofMinutes(3));
        if (key != null) {
            request.header("Authorization", "Bearer " + key);
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        if (body == null) {
            request.method(method, HttpRequest.BodyPublishers.noBody());
        } else {
            request.header("Content-Type", "application/json")
                    .method(method, HttpRequest.BodyPublishers.ofString(body));
        }
        return send(request.build());
    }

    Reply send(HttpRequest request) {
        try {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            check().check(answer);
            return new Reply(answer.statusCode(), answer);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Every answer of every test is held against the document that the server itself publishes. */
    AnswerCheck check() throws IOException, InterruptedException {
        AnswerCheck known = check;
        if (known == null) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(server.url() + "/openapi.json"))
                    .build();
            HttpResponse<String> document = client.send(request, HttpResponse.BodyHandlers.ofString());
            known = new AnswerCheck(Json.parse(document.body()));
            check = known;
        }
        return known;
    }

    HttpClient client() {
        return client;
    }

    /** Enqueues one job and returns its id. */
    String enqueue(String json) {
        Reply reply = post("/v1/jobs", json);
        if (reply.status() != 202) {
            throw new AssertionError(reply.raw().body());
        }
        return reply.text("id");
    }

    /** Leases one job as worker w. */
    JsonNode lease(String more) {
        Reply reply = post("/v1/leases", "{\"worker\":\"w\",\"wait\":\"20s\"" + more + "}");
        if (reply.status() != 200 || reply.json().get("items").isEmpty()) {
            throw new AssertionError(reply.raw().body());
        }
        return reply.json().get("items").get(0);
    }

    /** A dead letter: enqueued, leased, failed for good. */
    String deadLetter(String type, String queue, String error) {
        String id = enqueue("{\"type\":\"" + type + "\",\"queue\":\"" + queue + "\"}");
        JsonNode lease = lease(",\"queues\":[\"" + queue + "\"]");
        Reply failed = post(
                "/v1/leases/" + lease.get("token").stringValue() + "/fail",
                "{\"type\":\"" + error + "\",\"message\":\"broken\",\"permanent\":true}");
        if (failed.status() != 200) {
            throw new AssertionError(failed.raw().body());
        }
        return id;
    }

    static <T> T await(Supplier<@Nullable T> look) {
        for (int looks = 0; looks < 18_000; looks++) {
            T found = look.get();
            if (found != null) {
                return found;
            }
            if (Thread.currentThread().isInterrupted()) {
                break;
            }
            LockSupport.parkNanos(10_000_000);
        }
        throw new AssertionError("it did not come true");
    }

    @Override
    public void close() {
        server.close();
    }
}
