// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.video;

import io.reprise.server.http.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A customer of the service: plain HTTP with a bearer key. */
final class VideoClient {

    private static final String GENERATIONS = "/v1/videos/generations";
    private static final List<String> METRICS = List.of(
            "reprise_succeeded_total",
            "reprise_failed_total",
            "retries_total",
            "reprise_recovery_seconds_sum",
            "reprise_attempts_needed_sum");

    /** Status and body of an answer. */
    record Reply(int status, JsonNode body) {

        String text(String name) {
            return body.path(name).stringValue("");
        }
    }

    private final HttpClient http = HttpClient.newHttpClient();
    private final String url;
    private final String key;

    VideoClient(String url, String key) {
        this.url = url;
        this.key = key;
    }

    /** Asks for a video; the id of the task. */
    String generate(String model, String prompt) throws IOException, InterruptedException {
        Reply reply = send(
                "POST", GENERATIONS, Json.text(Json.object().put("model", model).put("prompt", prompt)));
        if (reply.status() != 202) {
            throw new IOException("refused: " + reply);
        }
        return reply.text("taskId");
    }

    Reply task(String id) throws IOException, InterruptedException {
        return send("GET", GENERATIONS + "/tasks/" + id, null);
    }

    Reply retry(String id) throws IOException, InterruptedException {
        return send("POST", GENERATIONS + "/tasks/" + id + "/retry", null);
    }

    Reply cancel(String id) throws IOException, InterruptedException {
        return send("DELETE", GENERATIONS + "/tasks/" + id, null);
    }

    /** Subscribes to everything that happens to this customer's tasks. */
    Reply subscribe(String receiver) throws IOException, InterruptedException {
        return send("POST", "/v1/webhooks", Json.text(Json.object().put("url", receiver)));
    }

    /** The task once it is neither pending nor processing. */
    Reply await(String id) throws IOException, InterruptedException {
        while (true) {
            Reply task = task(id);
            if (!task.text("status").equals("pending") && !task.text("status").equals("processing")) {
                return task;
            }
            LockSupport.parkNanos(50_000_000);
        }
    }

    /** The task once it waits for a retry. */
    Reply waiting(String id) throws IOException, InterruptedException {
        Reply task = task(id);
        while (task.body().path("nextRetryAt").isNull()) {
            LockSupport.parkNanos(10_000_000);
            task = task(id);
        }
        return task;
    }

    /** The lines of the metrics that Conduit asks for. Only a key without a customer may read them. */
    List<String> metrics() throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(
                HttpRequest.newBuilder(URI.create(url + "/metrics"))
                        .header("Authorization", "Bearer " + key)
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        return answer.body()
                .lines()
                .filter(line -> METRICS.stream().anyMatch(line::startsWith) && line.contains("generate-video"))
                .toList();
    }

    Reply send(String method, String path, @Nullable String body) throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(url + path)).header("Authorization", "Bearer " + key);
        if (body == null) {
            request.method(method, HttpRequest.BodyPublishers.noBody());
        } else {
            request.header("Content-Type", "application/json")
                    .method(method, HttpRequest.BodyPublishers.ofString(body));
        }
        HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        return new Reply(answer.statusCode(), answer.body().isEmpty() ? Json.object() : Json.parse(answer.body()));
    }
}
