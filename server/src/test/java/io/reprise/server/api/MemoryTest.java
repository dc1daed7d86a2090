// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.net.HttpSettings;
import io.reprise.testing.InMemoryJobStore;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
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
