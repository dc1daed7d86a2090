// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.video;

import com.sun.net.httpserver.HttpServer;
import io.reprise.server.http.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** Where webhooks arrive. */
final class Receiver implements AutoCloseable {

    private final HttpServer server;
    private final List<JsonNode> received = new CopyOnWriteArrayList<>();

    Receiver(Consumer<JsonNode> each) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            JsonNode data = Json.parse(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8))
                    .path("data");
            received.add(data);
            each.accept(data);
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/webhook";
    }

    /** The messages about a task, once its end has arrived. Webhooks may overtake one another, so they are put in order. */
    List<JsonNode> of(String taskId) {
        while (true) {
            List<JsonNode> told = received.stream()
                    .filter(each -> each.path("taskId").stringValue("").equals(taskId))
                    .sorted((a, b) -> Integer.compare(order(a), order(b)))
                    .toList();
            long retries = told.stream()
                    .filter(each -> status(each).equals("retrying"))
                    .count();
            JsonNode last = told.isEmpty() ? Json.object() : told.get(told.size() - 1);
            if (!status(last).isEmpty()
                    && !status(last).equals("retrying")
                    && retries == last.path("retryCount").intValue(0)) {
                return told;
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("interrupted while waiting for webhooks of " + taskId);
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    private static int order(JsonNode data) {
        return status(data).equals("retrying") ? data.path("retryCount").intValue(0) : Integer.MAX_VALUE;
    }

    static String status(JsonNode data) {
        return data.path("status").stringValue("");
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
