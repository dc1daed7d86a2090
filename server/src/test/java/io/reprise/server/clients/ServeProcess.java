// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.clients;

import io.reprise.cli.Main;
import io.reprise.server.http.Json;
import io.reprise.testkit.faults.JavaProcess;
import io.reprise.testkit.faults.TcpProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code reprise serve} on a SQLite file in its own process, with a proxy before it. It can be killed and started again. */
final class ServeProcess implements AutoCloseable {

    private static final String ADMIN = "reprise_0123456789ab_" + "c1".repeat(32);

    private static final int MOST_TRIES = 5;

    final TcpProxy proxy;
    private int port;
    private final Path log;
    private String[] args;
    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(Duration.ofMinutes(1)).build();
    private JavaProcess process;

    /** Where jobs of the running test are. */
    String queue = "default";

    ServeProcess(Path directory) throws IOException {
        log = directory.resolve("server.log");
        // Another process may take a free port at any moment. Then the server ends, and a new one gets another port.
        for (int tries = 1; ; tries++) {
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = free.getLocalPort();
            }
            args = new String[] {
                "serve",
                "--store",
                "sqlite:" + directory.resolve("jobs.db"),
                "--http-port",
                Integer.toString(port),
                "--admin-key",
                ADMIN,
                "--worker-lease",
                "5s",
                "--delivery-allow",
                "127.0.0.1"
            };
            process = JavaProcess.start(Main.class, log, args);
            try {
                awaitReady();
                break;
            } catch (AssertionError e) {
                process.kill();
                if (tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
        proxy = TcpProxy.before(port);
    }

    String key() {
        return ADMIN;
    }

    /** Where clients connect, through the proxy. */
    String url() {
        return "http://127.0.0.1:" + proxy.port();
    }

    /** Ends it as {@code kill -9} does, and starts it again. */
    void killAndStart() {
        process.kill();
        process = JavaProcess.start(Main.class, log, args);
        awaitReady();
    }

    private void awaitReady() {
        await("the server is ready", () -> {
            if (!process.isAlive()) {
                throw new AssertionError(process.logTail());
            }
            try {
                // Only this server knows the key: another one that took the port is not taken for it.
                return send("GET", "/readyz", null).statusCode() == 200
                        && send("GET", "/v1/queues", null).statusCode() == 200;
            } catch (IOException e) {
                return false;
            }
        });
    }

    /** Asks the server itself, not through the proxy. */
    JsonNode call(String method, String path, @Nullable String body) {
        try {
            HttpResponse<String> answer = send(method, path, body);
            if (answer.statusCode() >= 300) {
                throw new AssertionError(answer.statusCode() + " " + answer.body());
            }
            return Json.parse(answer.body());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private HttpResponse<String> send(String method, String path, @Nullable String body) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofMinutes(2))
                .header("Authorization", "Bearer " + ADMIN)
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        try {
            return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Enqueues a job, given without its queue. */
    String enqueue(String json) {
        return call("POST", "/v1/jobs", "{\"queue\":\"" + queue + "\"," + json.substring(1))
                .get("id")
                .stringValue();
    }

    JsonNode job(String id) {
        return call("GET", "/v1/jobs/" + id, null);
    }

    String state(String id) {
        return job(id).get("state").stringValue();
    }

    /** Returns the number of jobs in a state. */
    int count(String state) {
        for (JsonNode each : call("GET", "/v1/queues", null).get("items")) {
            if (each.get("name").stringValue().equals(queue)) {
                return each.get("counts").get(state).intValue();
            }
        }
        return 0;
    }

    static void await(String what, BooleanSupplier isTrue) {
        long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
        while (!isTrue.getAsBoolean()) {
            if (System.nanoTime() - until > 0) {
                throw new AssertionError("not within three minutes: " + what);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    @Override
    public void close() {
        process.close();
        proxy.close();
    }
}
