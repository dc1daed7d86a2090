// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import static io.reprise.server.webhook.WebhookFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import io.reprise.job.JobState;
import io.reprise.server.auth.Quotas;
import io.reprise.server.delivery.Stub;
import io.reprise.server.http.AnswerCheck;
import io.reprise.server.http.Caller;
import io.reprise.server.http.HttpServer;
import io.reprise.server.http.Json;
import io.reprise.server.http.OpenApi;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Subscriptions over HTTP, on real sockets at both ends. */
class WebhookEndpointsTest {

    private static final Duration SOON = Duration.ofSeconds(1);

    private final WebhookFixture webhooks = new WebhookFixture((payload, job) -> {});
    private final HttpServer server = start();
    private final HttpClient client = HttpClient.newHttpClient();
    private volatile @Nullable String tenant;

    private HttpServer start() {
        try {
            return HttpServer.start(
                    new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null),
                    (authorization, address, needed) -> new Caller("ada", Set.of(Scope.ADMIN), tenant),
                    List.of(endpoints()));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @AfterEach
    void close() {
        server.close();
        webhooks.close();
    }

    private HttpResponse<String> send(String method, String path, @Nullable Object body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path))
                .timeout(Duration.ofMinutes(3))
                .header("Content-Type", "application/json")
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(Json.text(body)));
        HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        new AnswerCheck(OpenApi.document(endpoints().operations(), "test")).check(answer);
        return answer;
    }

    private WebhookEndpoints endpoints() {
        Quotas quotas = new Quotas(webhooks.store, Quotas.Limits.DEFAULT, InstantSource.system());
        return new WebhookEndpoints(webhooks.webhooks, webhooks.reprise, webhooks.codec, quotas);
    }

    private JsonNode ok(int status, String method, String path, @Nullable Object body) throws Exception {
        HttpResponse<String> answer = send(method, path, body);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        return answer.body().isEmpty() ? Json.object() : Json.parse(answer.body());
    }

    private String create() throws Exception {
        return ok(201, "POST", "/v1/webhooks", Map.of("url", webhooks.stub.url("/hook")))
                .get("id")
                .stringValue();
    }

    @Test
    void a_subscription_is_created_shown_changed_and_deleted() throws Exception {
        JsonNode created = ok(
                201,
                "POST",
                "/v1/webhooks",
                Map.of(
                        "url",
                        webhooks.stub.url("/hook"),
                        "events",
                        List.of("failed", "retrying"),
                        "headers",
                        Map.of("Authorization", "Bearer s3cret")));
        String path = "/v1/webhooks/" + created.get("id").stringValue();
        String secret = created.get("secret").stringValue();
        assertThat(secret).startsWith("whsec_");
        HttpResponse<String> shown = send("GET", path, null);
        assertThat(shown.body())
                .contains("\"failed\"")
                .contains("Authorization")
                .doesNotContain("s3cret")
                .doesNotContain(secret.substring(6));
        assertThat(send("GET", "/v1/webhooks", null).body())
                .contains(created.get("id").stringValue())
                .doesNotContain("s3cret")
                .doesNotContain(secret.substring(6));
        JsonNode changed = ok(200, "PUT", path, Map.of("url", webhooks.stub.url("/other"), "enabled", false));
        assertThat(changed.get("enabled").booleanValue()).isFalse();
        assertThat(changed.get("events")).isEmpty();
        assertThat(changed.get("headers").get(0).stringValue()).as("kept").isEqualTo("Authorization");
        ok(204, "DELETE", path, null);
        ok(404, "GET", path, null);
        ok(404, "DELETE", path, null);
        assertThat(webhooks.store.audit(null, 10))
                .extracting(entry -> entry.note().by())
                .containsOnly("ada");
    }

    @Test
    void batches_are_set_kept_and_taken_away() throws Exception {
        String url = webhooks.stub.url("/hook");
        JsonNode created = ok(201, "POST", "/v1/webhooks", Map.of("url", url, "batch", Map.of("count", 20)));
        assertThat(created.get("batch").toString()).contains("\"count\":20").contains("\"within\":\"1s\"");
        String path = "/v1/webhooks/" + created.get("id").stringValue();
        assertThat(ok(200, "PUT", path, Map.of("url", url)).get("batch").isNull())
                .isFalse();
        JsonNode alone = ok(200, "PUT", path, Json.parse("{\"url\":\"" + url + "\",\"batch\":null}"));
        assertThat(alone.get("batch").isNull()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"url\":\"http://169.254.169.254/\"}",
                "{\"url\":\"ftp://x.org/\"}",
                "{\"url\":7}",
                "{}",
                "{\"url\":\"http://example.org/\",\"events\":[\"begun\"]}",
                "{\"url\":\"http://example.org/\",\"headers\":{\"Host\":\"x\"}}",
                "{\"url\":\"http://example.org/\",\"headers\":{\"X\":\"a\\nb\"}}",
                "{\"url\":\"http://example.org/\",\"headers\":{\"X\":{}}}",
                "{\"url\":\"http://example.org/\",\"secret\":\"short\"}",
                "{\"url\":\"http://example.org/\",\"queues\":[\"no name\"]}",
                "{\"url\":\"http://example.org/\",\"batch\":{\"count\":1}}",
                "{\"url\":\"http://example.org/\",\"batch\":{\"count\":101}}",
                "{\"url\":\"http://example.org/\",\"batch\":{\"within\":\"1ms\"}}",
                "{\"url\":\"http://example.org/\",\"batch\":{\"within\":\"2m\"}}",
                "{\"url\":\"http://example.org/\",\"unknown\":1}"
            })
    void what_is_wrong_is_refused_and_named(String body) throws Exception {
        HttpResponse<String> answer = send("POST", "/v1/webhooks", Json.parse(body));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
        assertThat(Json.parse(answer.body()).get("errors")).isNotEmpty();
    }

    @Test
    void a_secret_can_be_rotated_with_an_overlap() throws Exception {
        String path = "/v1/webhooks/" + create();
        String next = ok(200, "POST", path + "/rotate-secret", Map.of("overlap", "1h"))
                .get("secret")
                .stringValue();
        assertThat(ok(200, "GET", path, null).get("signingSecrets").intValue()).isEqualTo(2);
        webhooks.reprise.enqueue(WORK.job("x"));
        webhooks.worker.advance(SOON);
        verify(next, webhooks.stub.seen.get(0));
        ok(200, "POST", path + "/rotate-secret", Map.of("overlap", "0s"));
        assertThat(ok(200, "GET", path, null).get("signingSecrets").intValue()).isEqualTo(1);
        ok(400, "POST", path + "/rotate-secret", Map.of("overlap", "31d"));
    }

    private static void verify(String secret, Stub.Seen seen) throws Exception {
        new Webhook(secret)
                .verify(
                        seen.body(),
                        seen.headers().entrySet().stream()
                                .collect(Collectors.toMap(Map.Entry::getKey, each -> List.of(each.getValue()))));
    }

    @Test
    void a_ping_tries_it_out() throws Exception {
        String path = "/v1/webhooks/" + create();
        ok(202, "POST", path + "/ping", null);
        webhooks.worker.advance(SOON);
        assertThat(webhooks.told()).containsExactly("ping ");
        assertThat(webhooks.stub.seen.get(0).header("webhook-id")).startsWith("ping_");
    }

    @Test
    void deliveries_are_listed_and_sent_again_whatever_became_of_them() throws Exception {
        String path = "/v1/webhooks/" + create();
        webhooks.replies.add(Stub.Reply.of(204));
        webhooks.replies.add(Stub.Reply.of(308));
        webhooks.reprise.enqueue(WORK.job("x"));
        webhooks.worker.advance(SOON);
        webhooks.reprise.enqueue(WORK.job("y"));
        webhooks.worker.advance(SOON);
        JsonNode log = ok(200, "GET", path + "/deliveries", null).get("items");
        assertThat(log).hasSize(2);
        assertThat(log.get(0).get("state").stringValue()).isEqualTo("FAILED");
        assertThat(log.get(0).get("event").stringValue()).isEqualTo("succeeded");
        assertThat(log.get(0).get("error").stringValue()).contains("308");
        assertThat(log.get(1).get("state").stringValue()).isEqualTo("SUCCEEDED");
        assertThat(ok(200, "GET", path + "/deliveries?state=FAILED", null).get("items"))
                .hasSize(1);
        for (JsonNode delivery : log) {
            ok(202, "POST", path + "/deliveries/" + delivery.get("id").stringValue() + "/redeliver", null);
            webhooks.worker.advance(SOON);
        }
        assertThat(webhooks.stub.seen).hasSize(4);
        assertThat(webhooks.stub.seen.stream()
                        .map(seen -> seen.header("webhook-id"))
                        .distinct())
                .hasSize(2);
        assertThat(webhooks.deliveries(JobState.SUCCEEDED)).hasSize(3);
        ok(404, "POST", path + "/deliveries/999999/redeliver", null);
        ok(400, "GET", path + "/deliveries?cursor=nonsense", null);
    }

    @Test
    void another_tenants_subscription_is_as_none() throws Exception {
        tenant = "acme";
        String path = "/v1/webhooks/" + create();
        tenant = "other";
        ok(404, "GET", path, null);
        ok(404, "PUT", path, Map.of("url", "http://example.org/"));
        ok(404, "DELETE", path, null);
        ok(404, "POST", path + "/ping", null);
        ok(404, "POST", path + "/rotate-secret", null);
        ok(404, "GET", path + "/deliveries", null);
        assertThat(ok(200, "GET", "/v1/webhooks", null).get("items")).isEmpty();
        tenant = "acme";
        ok(200, "GET", path, null);
    }

    @Test
    void what_one_receiver_was_trusted_with_is_not_sent_to_another() throws Exception {
        String first = webhooks.stub.url("/first");
        String id = ok(201, "POST", "/v1/webhooks", Map.of("url", first, "headers", Map.of("X-Secret", "s3cret")))
                .get("id")
                .stringValue();
        String path = "/v1/webhooks/" + id;
        JsonNode same = ok(200, "PUT", path, Map.of("url", webhooks.stub.url("/second")));
        assertThat(same.get("headers")).as("the same receiver").hasSize(1);
        JsonNode other = ok(200, "PUT", path, Map.of("url", "https://evil.example.com/"));
        assertThat(other.get("headers")).isEmpty();
    }
}
