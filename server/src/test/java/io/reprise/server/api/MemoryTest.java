// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What clients can make the server keep in memory. */
class MemoryTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private static TestServer server(Duration request, long inFlight, long answerRate) {
        return new TestServer(
                new InMemoryJobStore(),
                new HttpSettings.Limits(10 << 20, 16 << 10, 100, LONG, request, 16, inFlight, answerRate, 100),
                1_000_000);
    }

    private static Socket connect(TestServer server, String request) throws IOException {
        Socket socket = new Socket();
        // Small, so that an answer does not fit into what the two systems keep for us.
        socket.setReceiveBufferSize(4 << 10);
        socket.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), server.server.port()));
        socket.setSoTimeout(120_000);
        socket.getOutputStream()
                .write((request + "\r\nHost: a\r\nAuthorization: Bearer " + server.admin + "\r\n")
                        .getBytes(StandardCharsets.ISO_8859_1));
        return socket;
    }

    private static void enqueue(TestServer server, int jobs, int chars) {
        String body = "{\"type\":\"a\",\"delay\":\"1h\",\"payload\":\"" + "x".repeat(chars) + "\"}";
        for (int i = 0; i < jobs; i++) {
            server.enqueue(body);
        }
    }

    @Test
    void what_takes_no_payload_takes_no_long_body() {
        try (TestServer server = new TestServer()) {
            String objects = "{\"x\":[" + "{},".repeat(30_000) + "{}]}";
            for (String path : new String[] {"/v1/policies/lint", "/v1/policies/preview", "/v1/leases"}) {
                assertThat(server.post(path, objects).status()).as(path).isEqualTo(413);
            }
            Reply unknown = server.post("/v1/jobs", "{\"type\":\"a\",\"x\":[" + "{},".repeat(3_000_000) + "{}]}");
            assertThat(unknown.status()).isEqualTo(400);
        }
    }

    /** The body does not fit into the buffers of the two systems, so the server must have read it. */
    @Test
    void a_client_that_sends_its_whole_body_first_reads_why_it_is_refused() throws IOException {
        try (TestServer server = new TestServer();
                Socket socket = connect(server, "POST /v1/leases HTTP/1.1")) {
            String head = "Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n";
            socket.getOutputStream().write((head + " ".repeat(9_000_000)).getBytes(StandardCharsets.ISO_8859_1));
            byte[] answer = socket.getInputStream().readNBytes(12);
            assertThat(new String(answer, StandardCharsets.ISO_8859_1)).isEqualTo("HTTP/1.1 413");
        }
    }

    @Test
    void a_list_has_no_payloads_unless_asked_for_and_then_ends_early() {
        try (TestServer server = new TestServer()) {
            enqueue(server, 15, 600_000);
            Reply brief = server.get("/v1/jobs?limit=1000");
            assertThat(brief.json().get("items")).hasSize(15);
            assertThat(brief.raw().body()).hasSizeLessThan(100_000);
            JsonNode whole = server.get("/v1/jobs?limit=1000&payloads=true").json();
            assertThat(whole.get("items")).hasSize(10);
            JsonNode rest = server.get("/v1/jobs?limit=1000&payloads=true&cursor="
                            + whole.get("next").stringValue())
                    .json();
            assertThat(rest.get("items")).hasSize(5);
            assertThat(rest.get("next").isNull()).isTrue();
            assertThat(rest.at("/items/0/payload").stringValue()).hasSize(600_000);
        }
    }

    @Test
    void an_answer_with_leases_ends_early_too() {
        try (TestServer server = new TestServer()) {
            String body = "{\"type\":\"a\",\"payload\":\"" + "x".repeat(600_000) + "\"}";
            for (int i = 0; i < 25; i++) {
                server.enqueue(body);
            }
            assertThat(server.post("/v1/leases", "{\"max\":100,\"lease\":\"1h\"}")
                            .json()
                            .get("items"))
                    .hasSize(20);
        }
    }

    @Test
    void a_key_may_have_so_many_bytes_on_their_way_and_no_more() throws IOException {
        try (TestServer server = server(LONG, 10_000, 1_000)) {
            String large = "{\"type\":\"a\",\"payload\":\"" + "x".repeat(6_000) + "\"}";
            // Nothing before it: bytes count until the answer is written, and the client may have it earlier.
            try (Socket first = connect(server, "POST /v1/jobs HTTP/1.1")) {
                first.getOutputStream()
                        .write("Content-Type: application/json\r\nContent-Length: 9000\r\n\r\n{"
                                .getBytes(StandardCharsets.ISO_8859_1));
                TestServer.await(() -> server.post("/v1/jobs", large).status() == 429 ? true : null);
                assertThat(server.get("/v1/jobs").status())
                        .as("what has no body is let in")
                        .isEqualTo(200);
            }
            TestServer.await(() -> server.post("/v1/jobs", large).status() == 202 ? true : null);
        }
    }

    /** A connection of which only the first line of a long answer was read. */
    private static Socket unread(TestServer server) throws IOException {
        Socket socket = connect(server, "GET /v1/jobs?payloads=true HTTP/1.1");
        socket.getOutputStream().write("\r\n".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.ISO_8859_1))
                .isEqualTo("HTTP/1.1 200");
        return socket;
    }

    @Test
    void who_reads_none_of_its_answers_gets_no_more_long_ones() throws IOException {
        try (TestServer server = server(LONG, 10 << 20, 1_000)) {
            enqueue(server, 10, 1_000_000);
            String list = "/v1/jobs?payloads=true";
            try (Socket unread = unread(server)) {
                Reply refused = server.get(list);
                assertThat(refused.status()).isEqualTo(429);
                assertThat(refused.raw().headers().firstValue("Retry-After")).contains("1");
                assertThat(server.get("/v1/jobs").status())
                        .as("a short answer is sent")
                        .isEqualTo(200);
                assertThat(unread.isConnected()).isTrue();
            }
            TestServer.await(() -> server.get(list).status() == 200 ? true : null);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"steps", "log"})
    void large_answers_for_one_are_made_one_after_another_and_hold_up_nobody_else(String what) {
        InMemoryJobStore store = new InMemoryJobStore();
        List<Object> read = new CopyOnWriteArrayList<>();
        CountDownLatch released = new CountDownLatch(1);
        JobStore waiting = (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals(what)) {
                        read.add(arguments[0].toString());
                        released.await();
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        try (TestServer server = new TestServer(
                waiting,
                new HttpSettings.Limits(10 << 20, 16 << 10, 100, LONG, LONG, 16, 10 << 20, 1_000, 100),
                1_000_000)) {
            String other = server.key("other", "other", Scope.READ, Scope.ENQUEUE);
            String own = server.enqueue("{\"type\":\"a\",\"delay\":\"1h\"}");
            String others = server.send(other, "POST", "/v1/jobs", "{\"type\":\"a\",\"delay\":\"1h\"}")
                    .text("id");
            List<CompletableFuture<Integer>> answers = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                answers.add(CompletableFuture.supplyAsync(
                        () -> server.get("/v1/jobs/" + own + "/" + what).status(),
                        command -> new Thread(command).start()));
            }
            TestServer.await(() -> read.contains(own) ? true : null);
            answers.add(CompletableFuture.supplyAsync(
                    () -> server.send(other, "GET", "/v1/jobs/" + others + "/" + what, null)
                            .status(),
                    command -> new Thread(command).start()));
            TestServer.await(() -> read.contains(others) ? true : null);
            assertThat(read).containsExactly(own, others);
            released.countDown();
            assertThat(answers).extracting(CompletableFuture::join).containsOnly(200);
        }
    }

    @Test
    void jobs_of_an_answer_for_which_there_is_no_room_are_given_back() throws IOException {
        try (TestServer server = server(LONG, 10 << 20, 1_000)) {
            enqueue(server, 10, 1_000_000);
            server.enqueue("{\"type\":\"b\",\"payload\":\"" + "x".repeat(600_000) + "\"}");
            try (Socket unread = unread(server)) {
                assertThat(server.post("/v1/leases", "{\"types\":[\"b\"],\"wait\":\"20s\"}")
                                .status())
                        .isEqualTo(429);
                TestServer.await(() -> server.get("/v1/jobs?type=b&state=PENDING")
                                        .json()
                                        .get("items")
                                        .size()
                                == 1
                        ? true
                        : null);
                assertThat(unread.isConnected()).isTrue();
            }
        }
    }

    @Test
    void a_client_that_reads_an_answer_too_slowly_is_cut_off() throws IOException {
        try (TestServer server = server(Duration.ofSeconds(2), 1L << 30, 100L << 20)) {
            enqueue(server, 15, 600_000);
            try (Socket socket = connect(server, "GET /v1/jobs?payloads=true HTTP/1.1")) {
                socket.getOutputStream().write("\r\n".getBytes(StandardCharsets.ISO_8859_1));
                InputStream in = socket.getInputStream();
                int looks = TestServer.await(new java.util.function.Supplier<Integer>() {
                    private int read;

                    @Override
                    public @org.jspecify.annotations.Nullable Integer get() {
                        try {
                            read += Math.max(0, in.read(new byte[1_000]));
                            return in.read() < 0 ? read : null;
                        } catch (SocketException e) {
                            return read;
                        } catch (IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    }
                });
                assertThat(looks).isLessThan(6_000_000);
            }
        }
    }
}
