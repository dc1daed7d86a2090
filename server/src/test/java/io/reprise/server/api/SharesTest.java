// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.delivery.Stub;
import io.reprise.server.http.Scope;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one tenant uses up is not what others need. */
class SharesTest {

    private static final Scope[] ALL = {Scope.READ, Scope.ENQUEUE, Scope.WORK, Scope.OPERATE};

    private final CountDownLatch released = new CountDownLatch(1);
    private final Stub receiver = new Stub(seen -> {
        if (seen.path().startsWith("/tarpit")) {
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        return Stub.Reply.of(200);
    });
    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        released.countDown();
        server.close();
        receiver.close();
    }

    private String call(String path) {
        return "{\"type\":\"http\",\"payload\":{\"timeout\":\"60s\",\"url\":\"" + receiver.url(path) + "\"}}";
    }

    @Test
    void slow_calls_of_one_tenant_stop_neither_calls_nor_webhooks_of_another() {
        String evil = server.key("evil", "evil", ALL);
        String victim = server.key("victim", "victim", ALL);
        for (int i = 0; i < 40; i++) {
            server.send(evil, "POST", "/v1/jobs", call("/tarpit"));
        }
        TestServer.await(() -> receiver.seen.size() >= 7 ? true : null);
        String call = server.send(victim, "POST", "/v1/jobs", call("/fast")).text("id");
        String hook = server.send(victim, "POST", "/v1/webhooks", "{\"url\":\"" + receiver.url("/hook") + "\"}")
                .text("id");
        String ping = server.send(victim, "POST", "/v1/webhooks/" + hook + "/ping", null)
                .text("id");
        for (String id : List.of(call, ping)) {
            TestServer.await(() -> server.get("/v1/jobs/" + id).text("state").equals("SUCCEEDED") ? true : null);
        }
        assertThat(receiver.seen.stream().filter(seen -> seen.path().equals("/tarpit")))
                .as("the tenant's share")
                .hasSizeLessThanOrEqualTo(7);
    }

    /** The server of the tests has two threads for its jobs. */
    @Test
    void calls_hold_no_thread() {
        for (int i = 0; i < 15; i++) {
            server.post("/v1/jobs", call("/tarpit"));
        }
        TestServer.await(() -> receiver.seen.size() == 15 ? true : null);
        String id = server.enqueue(call("/fast"));
        released.countDown();
        TestServer.await(() -> server.get("/v1/jobs/" + id).text("state").equals("SUCCEEDED") ? true : null);
    }

    @Test
    void a_cancelled_call_is_cut_off() {
        String id = server.enqueue(call("/tarpit"));
        TestServer.await(() -> receiver.seen.size() == 1 ? true : null);
        assertThat(server.post("/v1/jobs/" + id + "/cancel", "{}").status())
                .as("asked to stop")
                .isEqualTo(202);
        TestServer.await(() -> server.get("/v1/jobs/" + id).text("state").equals("CANCELLED") ? true : null);
    }

    @Test
    void a_call_may_not_ask_for_more_time_than_is_set() {
        assertThat(server.post("/v1/jobs", call("/fast").replace("60s", "61s")).status())
                .isEqualTo(400);
    }

    @Test
    void a_stream_ends_when_its_key_is_revoked() throws Exception {
        String key = server.key("reader", null, Scope.READ);
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.server.url() + "/v1/events"))
                .header("Authorization", "Bearer " + key)
                .build();
        HttpResponse<Stream<String>> answer = server.client().send(request, HttpResponse.BodyHandlers.ofLines());
        assertThat(server.delete("/v1/keys/" + key.split("_", -1)[1]).status()).isEqualTo(204);
        try (Stream<String> lines = answer.body()) {
            assertThat(lines.filter(line -> line.startsWith("event:")))
                    .as("it ends")
                    .isEmpty();
        }
    }
}
