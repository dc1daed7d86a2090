// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.faults;

import io.reprise.server.http.AnswerCheck;
import io.reprise.server.http.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A client of both servers: who gets no answer from one asks the other. Holds every answer against the document. Thread-safe. */
final class Caller {

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** What was answered; the body is null if it is no JSON. */
    record Answer(int status, @Nullable JsonNode json) {}

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
    private final List<String> urls;
    private final String key;
    private final AnswerCheck check;
    private final Ledger ledger;

    Caller(List<String> urls, String key, AnswerCheck check, Ledger ledger) {
        this.urls = urls;
        this.key = key;
        this.check = check;
        this.ledger = ledger;
    }

    /** Asks one server once. Null if no answer came. */
    @Nullable
    Answer once(int server, String method, String path, @Nullable String body, @Nullable String idempotencyKey) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(urls.get(server % urls.size()) + path))
                .timeout(PATIENCE)
                .header("Authorization", "Bearer " + key)
                .method(
                        method,
                        body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        if (idempotencyKey != null) {
            request.header("Idempotency-Key", idempotencyKey);
        }
        try {
            HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
            return checked(answer);
        } catch (IOException e) {
            ledger.lostAnswers.incrementAndGet();
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    private Answer checked(HttpResponse<String> answer) {
        ledger.answers.incrementAndGet();
        try {
            check.check(answer);
        } catch (AssertionError e) {
            ledger.violated("outside the document: " + e.getMessage());
        }
        if (answer.statusCode() >= 500) {
            ledger.unavailable.incrementAndGet();
        }
        String type = answer.headers().firstValue("Content-Type").orElse("");
        return new Answer(answer.statusCode(), type.contains("json") ? Json.parse(answer.body()) : null);
    }

    /** Asks one, then the other, until one has answered that it did or will not. Null if the thread is told to stop. */
    @Nullable
    Answer insist(int server, String method, String path, @Nullable String body, @Nullable String idempotencyKey) {
        for (int i = server; !Thread.currentThread().isInterrupted(); i++) {
            Answer answer = once(i, method, path, body, idempotencyKey);
            if (answer != null && answer.status < 500 && answer.status != 429) {
                return answer;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return null;
    }
}
