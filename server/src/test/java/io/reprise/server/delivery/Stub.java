// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Somebody else's server, on a real socket, that answers as told and remembers what it was asked. */
public final class Stub implements AutoCloseable {

    /** What it was asked; header names are in lower case. */
    public record Seen(String method, String path, Map<String, String> headers, String body) {
        public @Nullable String header(String name) {
            return headers.get(name);
        }
    }

    /** What it answers. */
    public record Reply(int status, Map<String, String> headers, String body) {
        public static Reply of(int status) {
            return new Reply(status, Map.of(), "");
        }

        public Reply header(String name, String value) {
            Map<String, String> more = new java.util.HashMap<>(headers);
            more.put(name, value);
            return new Reply(status, more, body);
        }

        public Reply body(String text) {
            return new Reply(status, headers, text);
        }
    }

    static {
        // Otherwise every answer on a kept connection waits for the client's delayed acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    /** The first of what it was asked. */
    public final List<Seen> seen = new CopyOnWriteArrayList<>();

    private static final int REMEMBERED = 100;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Function<Seen, Reply> answer;

    public Stub(Function<Seen, Reply> answer) {
        this("127.0.0.1", 0, answer);
    }

    public Stub(String address, int port, Function<Seen, Reply> answer) {
        this.answer = answer;
        try {
            server = HttpServer.create(new InetSocketAddress(AddressRange.literal(address), port), 0);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        server.createContext("/", this::handle);
        server.setExecutor(threads);
        server.start();
    }

    public int port() {
        return server.getAddress().getPort();
    }

    /** An URL of it, at the address it listens on. */
    public String url(String path) {
        return "http://" + server.getAddress().getAddress().getHostAddress() + ":" + port() + path;
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Map<String, String> headers = new java.util.HashMap<>();
            exchange.getRequestHeaders()
                    .forEach((name, values) -> headers.put(name.toLowerCase(java.util.Locale.ROOT), values.get(0)));
            Seen asked = new Seen(
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().toString(),
                    headers,
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            if (seen.size() < REMEMBERED) {
                seen.add(asked);
            }
            Reply reply = answer.apply(asked);
            reply.headers().forEach(exchange.getResponseHeaders()::set);
            byte[] bytes = reply.body().getBytes(StandardCharsets.UTF_8);
            boolean head = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(reply.status(), head || bytes.length == 0 ? -1 : bytes.length);
            if (!head) {
                exchange.getResponseBody().write(bytes);
            }
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
