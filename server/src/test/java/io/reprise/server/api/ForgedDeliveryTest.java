// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.delivery.Stub;
import io.reprise.server.http.Scope;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A tenant that writes the payload of a webhook delivery itself, to learn about another tenant's job. */
class ForgedDeliveryTest {

    private static final String SECRET = "card 4111-1111 of Alice declined";
    private static final Scope[] ALL = {Scope.READ, Scope.ENQUEUE, Scope.WORK, Scope.OPERATE};

    private final TestServer server = new TestServer();
    private final AtomicInteger status = new AtomicInteger(302);
    private final Stub receiver = new Stub(seen -> Stub.Reply.of(status.get()));
    private final String evil = server.key("evil", "evil", ALL);
    private String victimsJob = "";
    private String subscription = "";

    @BeforeEach
    void a_victim_with_a_dead_letter_and_a_subscription_of_evil() {
        String victim = server.key("victim", "victim", ALL);
        victimsJob =
                server.send(victim, "POST", "/v1/jobs", "{\"type\":\"charge\"}").text("id");
        String token = server.send(victim, "POST", "/v1/leases", "{\"wait\":\"20s\"}")
                .json()
                .at("/items/0/token")
                .stringValue();
        server.send(
                victim,
                "POST",
                "/v1/leases/" + token + "/fail",
                "{\"type\":\"PaymentError\",\"message\":\"" + SECRET + "\",\"permanent\":true}");
        subscription = server.send(evil, "POST", "/v1/webhooks", "{\"url\":\"" + receiver.url("/") + "\"}")
                .text("id");
    }

    @AfterEach
    void stop() {
        server.close();
        receiver.close();
    }

    private String forged(int token) {
        return "{\"subscription\":\"" + subscription + "\",\"event\":\"failed\",\"job\":" + victimsJob + ",\"token\":"
                + token + ",\"type\":\"x\",\"queue\":\"y\",\"attempts\":0}";
    }

    private String state(String delivery) {
        return server.get("/v1/jobs/" + delivery).text("state");
    }

    private String deadPing() {
        String delivery = server.send(evil, "POST", "/v1/webhooks/" + subscription + "/ping", null)
                .text("id");
        TestServer.await(() -> state(delivery).equals("FAILED") ? true : null);
        status.set(200);
        return delivery;
    }

    private void assertNothingLeaked() {
        assertThat(receiver.seen).noneMatch(seen -> seen.body().contains("4111-1111"));
    }

    @Test
    void a_delivery_is_replayed_only_with_the_payload_it_has() {
        String delivery = deadPing();
        for (int token : new int[] {0, 1}) {
            Reply replayed = server.send(
                    evil, "POST", "/v1/dead-letters/" + delivery + "/replay", "{\"payload\":" + forged(token) + "}");
            assertThat(replayed.status()).isEqualTo(400);
        }
        assertThat(server.post("/v1/dead-letters/" + delivery + "/replay", "{\"payload\":" + forged(1) + "}")
                        .status())
                .as("not even by an operator")
                .isEqualTo(400);
        String patch = "{\"patch\":" + forged(1) + "}";
        assertThat(server.send(evil, "POST", "/v1/dead-letters/" + delivery + "/replay", patch)
                        .status())
                .isEqualTo(400);
        assertThat(server.send(evil, "POST", "/v1/replays", "{\"filter\":{\"type\":\"webhook\"}," + patch.substring(1))
                        .status())
                .isEqualTo(400);
        assertThat(server.send(evil, "POST", "/v1/replays", patch).status())
                .as("without a type")
                .isEqualTo(400);
        assertThat(server.send(evil, "POST", "/v1/dead-letters/" + delivery + "/replay", "{}")
                        .status())
                .isEqualTo(200);
        TestServer.await(() -> state(delivery).equals("SUCCEEDED") ? true : null);
        assertNothingLeaked();
    }

    @Test
    void a_job_that_is_tagged_like_a_delivery_is_none() {
        status.set(200);
        Reply reply = server.send(
                evil,
                "POST",
                "/v1/jobs",
                "{\"type\":\"x\",\"tags\":[\"webhook:" + subscription + "\"],\"payload\":" + forged(1) + "}");
        assertThat(reply.status()).as("the tag is the server's own").isEqualTo(400);
    }
}
