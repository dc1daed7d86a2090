// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.client;

import io.reprise.server.config.Setting;
import io.reprise.server.http.Json;
import io.reprise.server.http.ProblemType;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** A link to a running server. It follows no redirects, because the key is for this server only. */
public final class HttpLink implements Link {

    private static final Duration CONNECT = Duration.ofSeconds(10);

    /** Longer than the server lets a request wait, and long enough for the largest bulk. */
    private static final Duration ANSWER = Duration.ofMinutes(5);

    private static final long AGAIN_NANOS = 1_000_000_000;

    private final String base;
    private final @Nullable String key;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT)
            .build();

    /**
     * Creates a link.
     *
     * @throws IllegalArgumentException if the URL is not that of a server
     */
    public HttpLink(String url, @Nullable String key) {
        URI uri = URI.create(url);
        String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
        if (uri.getHost() == null || !(scheme.equals("http") || scheme.equals("https"))) {
            throw new IllegalArgumentException(
                    "'" + url + "' is not the URL of a server: write for example " + Setting.SERVER_URL.otherwise());
        }
        if (uri.getUserInfo() != null || uri.getQuery() != null || uri.getFragment() != null) {
            throw new IllegalArgumentException("the URL of a server has no user, query or fragment");
        }
        this.base = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
        this.key = key;
    }

    @Override
    public String where() {
        return base;
    }

    @Override
    public String scope() {
        return "what the whole fleet does, as the server at " + base + " tells it";
    }

    @Override
    public JsonNode call(String method, ServerTarget target, @Nullable JsonNode body) {
        HttpRequest.Builder request = request(target).timeout(ANSWER);
        if (body == null) {
            request.method(method, HttpRequest.BodyPublishers.noBody());
        } else {
            request.header("Content-Type", "application/json")
                    .method(method, HttpRequest.BodyPublishers.ofByteArray(Json.bytes(body)));
        }
        HttpResponse<String> answer = send(request.build(), HttpResponse.BodyHandlers.ofString());
        return read(answer.statusCode(), answer.body());
    }

    @Override
    public void follow(ServerTarget filter, Predicate<JsonNode> each) {
        EventReader reader = new EventReader(each);
        boolean more = true;
        while (more) {
            HttpRequest.Builder request = request(filter);
            if (reader.lastId() != null) {
                request.header("Last-Event-ID", reader.lastId());
            }
            HttpResponse<InputStream> answer = send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream stream = answer.body()) {
                if (answer.statusCode() != 200) {
                    read(answer.statusCode(), new String(stream.readAllBytes(), StandardCharsets.UTF_8));
                }
                more = reader.read(stream);
            } catch (IOException e) {
                // The server went away during the stream. When it is back, it sends the missed events.
                more = true;
            }
            if (more) {
                LockSupport.parkNanos(AGAIN_NANOS);
            }
        }
    }

    private HttpRequest.Builder request(ServerTarget target) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + target));
        if (key != null) {
            try {
                request.header("Authorization", "Bearer " + key);
            } catch (IllegalArgumentException e) {
                // Without the cause, which quotes the key.
                throw LinkException.refused("The key has characters that no key has", new IllegalArgumentException());
            }
        }
        return request;
    }

    private <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> handler) {
        try {
            return client.send(request, handler);
        } catch (ConnectException e) {
            throw LinkException.unavailable(
                    "No server answers at " + base
                            + ". Is 'reprise serve' running there? Say where it is with --server, or"
                            + " work on its store with --store.",
                    e);
        } catch (HttpTimeoutException e) {
            throw LinkException.unavailable(
                    "The server at " + base + " does not answer in time; whether it did what was asked is not known",
                    e);
        } catch (IOException e) {
            throw LinkException.unavailable("Talking to the server at " + base + " failed: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw LinkException.unavailable("It was interrupted", e);
        }
    }

    private JsonNode read(int status, String body) {
        JsonNode json;
        try {
            json = body.isEmpty() ? Json.object() : Json.parse(body);
        } catch (JacksonException e) {
            throw LinkException.unavailable(
                    "What answers at " + base + " is no Reprise server (status " + status + ")", e);
        }
        if (status >= 200 && status < 300) {
            return json;
        }
        throw refusal(status, json);
    }

    private LinkException refusal(int status, JsonNode problem) {
        String detail = problem.path("detail").stringValue("The server answered with status " + status);
        IOException cause = new IOException("status " + status);
        // A full queue or a used quota is a refusal: it may last.
        boolean busy =
                status == 429 && problem.path("type").stringValue("").equals(ProblemType.TOO_MANY_REQUESTS.uri());
        if (status >= 500 || busy) {
            return LinkException.unavailable(detail, cause);
        }
        if (status == 401) {
            return LinkException.refused(
                    key == null
                            ? "The server at " + base + " wants an API key: give it with --key or in "
                                    + Setting.SERVER_KEY.variable()
                            : "The server at " + base + " does not know this key: " + detail,
                    cause);
        }
        if (status == 403) {
            return LinkException.refused("The key does not allow this: " + detail, cause);
        }
        return LinkException.refused(Problems.text(detail, problem.path("errors")), cause);
    }

    @Override
    public void close() {}
}
