// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.events.EventPages;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.server.http.Json;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testkit.servers.PostgresServer;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Events of one process in the stream of another: two servers, each with a store of its own on one database. */
class FleetEventsTest {

    private static final List<String> LIFE = List.of("ENQUEUED", "STARTED", "RETRY_SCHEDULED", "STARTED", "SUCCEEDED");

    @TempDir
    Path directory;

    /** A client that reads a stream in a thread of its own. */
    private static final class Listener implements AutoCloseable {
        private final List<String> all = new CopyOnWriteArrayList<>();
        private final Map<String, List<String>> kinds = new ConcurrentHashMap<>();
        private final Stream<String> lines;
        private volatile String lastId = "";

        Listener(TestServer server, String query, String... headers) throws Exception {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.server.url() + "/v1/events" + query))
                    .header("Authorization", "Bearer " + server.admin);
            if (headers.length > 0) {
                request.headers(headers);
            }
            lines = server.client()
                    .send(request.build(), HttpResponse.BodyHandlers.ofLines())
                    .body();
            Thread reader = new Thread(this::read, "listener");
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try {
                lines.forEach(line -> {
                    if (line.startsWith("id: ")) {
                        lastId = line.substring(4);
                    } else if (line.startsWith("event: ")) {
                        all.add(line.substring(7));
                    } else if (line.startsWith("data: ")) {
                        JsonNode data = Json.parse(line.substring(6));
                        if (data.has("id")) {
                            kinds.computeIfAbsent(data.get("id").stringValue(), id -> new CopyOnWriteArrayList<>())
                                    .add(data.get("kind").stringValue());
                        }
                    }
                });
            } catch (RuntimeException e) {
                all.add("closed");
            }
        }

        List<String> of(String id) {
            return kinds.getOrDefault(id, List.of());
        }

        @Override
        public void close() {
            lines.close();
        }
    }

    /** Makes jobs in a process until another process hears of them. */
    private static void untilHeard(Listener listener, TestServer worker) {
        TestServer.await(() -> {
            String probe = worker.enqueue("{\"type\":\"probe\",\"queue\":\"probes\"}");
            return (listener.kinds.size() > 2 || !listener.of(probe).isEmpty()) ? true : null;
        });
    }

    /** A job that fails once and then succeeds, with a lease from this process. */
    private static String run(TestServer worker) {
        String id = worker.enqueue(
                "{\"type\":\"a\",\"policy\":{\"backoff\":\"fixed\",\"base\":\"1ms\",\"jitter\":\"none\"}}");
        String body = ",\"types\":[\"a\"],\"queues\":[\"default\"]";
        String first = worker.lease(body).get("token").stringValue();
        worker.post("/v1/leases/" + first + "/fail", "{\"type\":\"Broken\",\"message\":\"x\"}");
        String second = worker.lease(body).get("token").stringValue();
        worker.post("/v1/leases/" + second + "/complete", "{}");
        return id;
    }

    private static void check(JobStore one, JobStore other) throws Exception {
        try (TestServer listening = new TestServer(one, "server-a");
                TestServer working = new TestServer(other, "server-b")) {
            assertThat(new EventPages(one, "test").last())
                    .as("nothing is written while nobody listens")
                    .isZero();
            String lastId;
            List<String> ids = new ArrayList<>();
            try (Listener listener = new Listener(listening, "")) {
                untilHeard(listener, working);
                IntStream.range(0, 10).forEach(i -> ids.add(run(working)));
                TestServer.await(
                        () -> ids.stream().allMatch(id -> listener.of(id).contains("SUCCEEDED")) ? true : null);
                assertThat(ids).allSatisfy(id -> assertThat(listener.of(id)).isEqualTo(LIFE));
                assertThat(listener.all).doesNotContain("reset");
                lastId = listener.lastId;
            }
            String missed = run(working);
            try (Listener elsewhere = new Listener(working, "", "Last-Event-ID", lastId)) {
                TestServer.await(() -> elsewhere.of(missed).contains("SUCCEEDED") ? true : null);
                assertThat(elsewhere.all).as("it goes on at another server").doesNotContain("reset");
            }
        }
    }

    @Test
    void another_process_is_heard_in_order_and_the_stream_goes_on_elsewhere_on_a_file() throws Exception {
        JdbcJobStore one = JdbcJobStore.sqlite(directory.resolve("jobs.db"));
        one.prepare();
        check(one, JdbcJobStore.sqlite(directory.resolve("jobs.db")));
    }

    @Test
    void another_process_is_heard_in_order_and_the_stream_goes_on_elsewhere_on_postgresql() throws Exception {
        try (PostgresServer postgres = PostgresServer.start()) {
            String url = postgres.freshDatabaseUrl();
            JdbcJobStore one = JdbcJobStore.open(url);
            one.prepare();
            check(one, JdbcJobStore.open(url));
        }
    }

    @Test
    void pages_are_bounded_and_gone_when_nobody_listens() {
        InMemoryJobStore store = new InMemoryJobStore();
        EventPages pages = new EventPages(store, "a");
        assertThat(pages.isHeard()).isFalse();
        pages.listen(Duration.ofMinutes(1));
        assertThat(pages.isHeard()).isTrue();
        assertThat(pages.read(0, 10))
                .singleElement()
                .satisfies(page -> assertThat(page.isMark()).isTrue());
        for (int i = 0; i < EventPages.KEPT + 100; i++) {
            pages.append(List.of("{\"kind\":\"x\"}", "{\"kind\":\"\u00e9\\n\"}"));
        }
        assertThat(pages.read(0, 1).get(0).number()).isEqualTo(102);
        assertThat(pages.read(EventPages.KEPT, 1).get(0).events())
                .containsExactly("{\"kind\":\"x\"}", "{\"kind\":\"\u00e9\\n\"}");
        assertThat(store.documents("event-page", 1_000, null).next()).isNotNull();
        pages.clear();
        assertThat(pages.read(0, 10)).isEmpty();
        assertThat(pages.last()).isEqualTo(EventPages.KEPT + 101L);
    }
}
