// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.server.auth.KeyTerms;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.testing.InMemoryJobStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client may use up, with small limits, over sockets that do what no decent client does. */
class LimitsTest {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Duration LONGEST = Duration.ofSeconds(15);

    private static TestServer server(int connections, Duration idle, Duration request) {
        return new TestServer(
                new InMemoryJobStore(),
                new HttpSettings.Limits(2_000, 2_000, connections, idle, request, 16),
                1_000_000);
    }

    private static InetAddress two() {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, 2});
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has four bytes", e);
        }
    }

    private static Socket connect(TestServer server) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.server.port());
        socket.setSoTimeout(120_000);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Until the server closes the connection, which it may do by a reset if something was sent that it did not read. */
    private static String answer(Socket socket) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        try {
            for (int next = socket.getInputStream().read();
                    next >= 0;
                    next = socket.getInputStream().read()) {
                answer.write(next);
            }
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
        return answer.toString(StandardCharsets.UTF_8);
    }

    /** Whether the server has closed the connection, on which nothing was sent. */
    private static boolean isClosed(Socket socket) {
        try {
            int patience = socket.getSoTimeout();
            socket.setSoTimeout(50);
            try {
                return socket.getInputStream().read() < 0;
            } catch (SocketTimeoutException e) {
                return false;
            } catch (SocketException e) {
                return true;
            } finally {
                socket.setSoTimeout(patience);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String post(TestServer server, String more) {
        return "POST /v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + server.admin
                + "\r\nContent-Type: application/json\r\n" + more;
    }

    @Test
    void a_body_without_a_length_is_read_only_up_to_the_limit() throws IOException {
        try (TestServer server = server(10, LONG, LONG);
                Socket small = connect(server);
                Socket large = connect(server)) {
            String fits = "{\"type\":\"a\"}";
            send(
                    small,
                    post(server, "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
                            + Integer.toHexString(fits.length()) + "\r\n" + fits + "\r\n0\r\n\r\n");
            assertThat(answer(small)).startsWith("HTTP/1.1 202");
            // One chunk after the other, and never the last one.
            send(large, post(server, "Transfer-Encoding: chunked\r\n\r\n"));
            send(large, ("3e8\r\n" + "x".repeat(1_000) + "\r\n").repeat(3));
            assertThat(answer(large))
                    .startsWith("HTTP/1.1 413")
                    .contains("application/problem+json")
                    .contains("urn:reprise:problem:too-large");
        }
    }

    /** Many clients send all they have before they read. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_client_that_reads_late_sees_why_its_long_body_was_refused(boolean chunked) throws IOException {
        try (TestServer server = server(10, LONG, LONG);
                Socket socket = connect(server)) {
            // More than the buffers of both systems take.
            int length = 32 << 20;
            String body = "x".repeat(length);
            send(
                    socket,
                    chunked
                            ? post(server, "Transfer-Encoding: chunked\r\n\r\n") + Integer.toHexString(length) + "\r\n"
                                    + body + "\r\n0\r\n\r\n"
                            : post(server, "Content-Length: " + length + "\r\n\r\n") + body);
            assertThat(answer(socket)).startsWith("HTTP/1.1 413").contains("urn:reprise:problem:too-large");
        }
    }

    @Test
    void a_refused_request_leaves_the_connection_as_it_was() throws IOException {
        String refused =
                "POST /v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n";
        try (TestServer server = server(10, LONG, LONG);
                Socket socket = connect(server)) {
            send(socket, refused);
            // Most likely the server has read the headers by now.
            assertThat(server.get("/healthz").status()).isEqualTo(200);
            send(socket, "{}" + "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            assertThat(answer(socket)).startsWith("HTTP/1.1 401").contains("HTTP/1.1 200");
        }
    }

    @Test
    void a_refused_request_with_a_long_body_is_the_last_on_its_connection() throws IOException {
        try (TestServer server = server(10, LONG, LONG);
                Socket socket = connect(server)) {
            send(
                    socket,
                    "POST /v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2001\r\n\r\n");
            assertThat(answer(socket)).startsWith("HTTP/1.1 401").contains("Connection: close");
        }
    }

    @Test
    void headers_beyond_the_limit_are_refused() throws IOException {
        try (TestServer server = server(10, LONG, LONG);
                Socket socket = connect(server)) {
            send(socket, "GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + "y".repeat(3_000) + "\r\n\r\n");
            assertThat(answer(socket))
                    .startsWith("HTTP/1.1 431")
                    .contains("application/problem+json")
                    .contains("urn:reprise:problem:too-large");
        }
    }

    @Test
    void beyond_the_limit_a_connection_waits_until_another_ends() throws IOException {
        String request = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
        try (TestServer server = server(2, LONG, LONG);
                Socket first = connect(server);
                Socket second = connect(server)) {
            for (Socket socket : new Socket[] {first, second}) {
                send(socket, request);
                assertThat(socket.getInputStream().read()).isEqualTo('H');
            }
            try (Socket third = connect(server)) {
                send(third, request);
                send(second, request);
                // A caller that was admitted is served meanwhile.
                skipToNext(second.getInputStream());
                assertThat(third.getInputStream().available()).isZero();
                first.close();
                assertThat(third.getInputStream().read()).isEqualTo('H');
            }
        }
    }

    /** Reads past what is left of an answer, and how the next begins. */
    private static void skipToNext(InputStream in) throws IOException {
        StringBuilder read = new StringBuilder();
        while (read.indexOf("HTTP/1.1 ") < 0) {
            int next = in.read();
            assertThat(next).isNotNegative();
            read.append((char) next);
        }
        assertThat(new String(in.readNBytes(3), StandardCharsets.US_ASCII)).isEqualTo("200");
    }

    @Test
    void a_client_that_falls_silent_is_let_go() throws IOException {
        try (TestServer server = server(10, SHORT, LONG);
                Socket nothing = connect(server);
                Socket headers = connect(server);
                Socket body = connect(server)) {
            sendIfOpen(headers, "GET /healthz HTTP/1.1\r\nHo");
            sendIfOpen(body, post(server, "Content-Length: 12\r\n\r\n{\"ty"));
            for (Socket socket : new Socket[] {nothing, headers, body}) {
                assertThat(answer(socket)).doesNotContain("HTTP/1.1 2").doesNotContain("Exception");
            }
            until(() -> isHealthy(server));
        }
    }

    /** A client that stands still for too long is let go before it has said anything. */
    private static void sendIfOpen(Socket socket, String text) throws IOException {
        try {
            send(socket, text);
        } catch (SocketException e) {
            assertThat(e).hasMessageFindingMatch("reset|pipe|closed");
        }
    }

    /** This client, too, may be let go before it has asked. */
    private static boolean isHealthy(TestServer server) {
        try {
            return server.get("/healthz").status() == 200;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    @Test
    void headers_that_drip_in_are_cut_off() throws IOException {
        try (TestServer server = server(10, LONG, SHORT);
                Socket socket = connect(server)) {
            send(socket, "GET /healthz HTTP/1.1\r\nHost: a\r\nX: ");
            assertThat(drip(socket)).doesNotContain("HTTP/1.1 2");
        }
    }

    @Test
    void a_body_that_drips_in_is_cut_off() throws IOException {
        withGrowingLimits(limit -> {
            try (TestServer server = server(10, LONG, limit);
                    Socket socket = connect(server)) {
                send(socket, post(server, "Content-Length: 1999\r\n\r\n"));
                assertThat(drip(socket)).startsWith("HTTP/1.1 400").contains("did not arrive");
            }
        });
    }

    @Test
    void a_connection_that_is_used_again_and_again_is_kept() throws IOException {
        withGrowingLimits(limit -> {
            try (TestServer server = server(10, LONG, limit);
                    Socket socket = connect(server)) {
                long end = System.nanoTime() + 3 * limit.toNanos();
                while (System.nanoTime() - end < 0) {
                    send(socket, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
                    skipToNext(socket.getInputStream());
                }
            }
        });
    }

    private interface Check {
        void with(Duration limit) throws IOException;
    }

    /** A server that stands still for longer than its limit may cut off anybody; then again with a longer one. */
    private static void withGrowingLimits(Check check) throws IOException {
        for (Duration limit = SHORT; ; limit = limit.multipliedBy(4)) {
            try {
                check.with(limit);
                return;
            } catch (IOException | AssertionError e) {
                if (limit.compareTo(LONGEST) > 0) {
                    throw e;
                }
            }
        }
    }

    /** Sends a byte whenever nothing has come for a moment, and returns what came before the connection was closed. */
    private static String drip(Socket socket) throws IOException {
        StringBuilder answer = new StringBuilder();
        OutputStream out = socket.getOutputStream();
        InputStream in = socket.getInputStream();
        socket.setSoTimeout(20);
        for (int bytes = 0; bytes < 1_900; bytes++) {
            try {
                for (int next = in.read(); next >= 0; next = in.read()) {
                    answer.append((char) next);
                }
                return answer.toString();
            } catch (SocketTimeoutException e) {
                if (answer.length() == 0) {
                    try {
                        out.write('x');
                    } catch (SocketException closed) {
                        return answer.toString();
                    }
                }
            } catch (SocketException e) {
                return answer.toString();
            }
        }
        throw new AssertionError("the server took every byte");
    }

    private static TestServer behindProxy(boolean speaksProtocol) {
        HttpSettings.Proxies proxies = new HttpSettings.Proxies(address -> false, speaksProtocol);
        HttpSettings settings = new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null, proxies);
        return new TestServer(new InMemoryJobStore(), settings, 1_000_000);
    }

    /** A key for the addresses of an example. */
    private static String boundKey(TestServer server) {
        KeyTerms terms = new KeyTerms(null, null, Set.of(), Set.of(), Set.of("192.0.2.0/24"));
        return server.keys
                .create("bound", Set.of(Scope.READ), null, terms, new AuditNote("test", null))
                .text();
    }

    /** A request on a connection of its own, whose first line says where it comes from. */
    private static String ask(TestServer server, String from, String key) throws IOException {
        try (Socket socket = connect(server)) {
            send(
                    socket,
                    from + "GET /v1/jobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + key
                            + "\r\nConnection: close\r\n\r\n");
            return answer(socket);
        }
    }

    @Test
    void a_proxy_says_by_its_protocol_who_connects() throws IOException {
        try (TestServer server = behindProxy(true)) {
            String bound = boundKey(server);
            assertThat(ask(server, "PROXY TCP4 192.0.2.7 192.0.2.8 4711 8080\r\n", bound))
                    .startsWith("HTTP/1.1 200");
            assertThat(ask(server, "PROXY TCP4 198.51.100.7 192.0.2.8 4711 8080\r\n", bound))
                    .startsWith("HTTP/1.1 403");
            assertThat(ask(server, "", bound))
                    .as("who does not say where it comes from")
                    .doesNotContain("200 OK");
        }
    }

    @Test
    void without_such_a_proxy_nobody_says_by_its_protocol_who_connects() throws IOException {
        try (TestServer server = behindProxy(false)) {
            String bound = boundKey(server);
            assertThat(ask(server, "PROXY TCP4 192.0.2.7 192.0.2.8 4711 8080\r\n", bound))
                    .startsWith("HTTP/1.1 400");
            assertThat(ask(server, "", bound)).startsWith("HTTP/1.1 403");
        }
    }

    @Test
    void one_address_does_not_take_the_connections_of_all_others() throws IOException {
        HttpSettings.Limits limits = HttpSettings.Limits.DEFAULT.perAddress(2);
        try (TestServer server = new TestServer(new InMemoryJobStore(), limits, 1_000_000);
                Socket first = new Socket(InetAddress.getLoopbackAddress(), server.server.port(), two(), 0);
                Socket second = new Socket(InetAddress.getLoopbackAddress(), server.server.port(), two(), 0);
                Socket third = new Socket(InetAddress.getLoopbackAddress(), server.server.port(), two(), 0)) {
            // Several threads accept connections, so any of the three may be the one too many.
            Socket refused = TestServer.await(() -> Stream.of(first, second, third)
                    .filter(LimitsTest::isClosed)
                    .findFirst()
                    .orElse(null));
            assertThat(server.get("/healthz").status()).as("another address").isEqualTo(200);
            String health = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
            for (Socket socket : List.of(first, second, third)) {
                if (socket != refused) {
                    send(socket, health);
                    assertThat(answer(socket)).startsWith("HTTP/1.1 200");
                }
            }
            TestServer.await(() -> {
                try (Socket later = new Socket(InetAddress.getLoopbackAddress(), server.server.port(), two(), 0)) {
                    send(later, health);
                    return answer(later).startsWith("HTTP/1.1 200") ? true : null;
                } catch (IOException e) {
                    return null;
                }
            });
        }
    }
}
