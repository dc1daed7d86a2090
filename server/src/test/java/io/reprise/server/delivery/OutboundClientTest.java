// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.server.delivery.Stub.Reply;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Over real sockets. */
class OutboundClientTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private static OutboundCall get(String url) {
        return new OutboundCall("GET", URI.create(url), Map.of(), "", LONG);
    }

    private static OutboundClient client(List<String> allowed, Resolver resolver) {
        return new OutboundClient(new OutboundGuard(allowed, Set.of(), resolver));
    }

    @Test
    void a_call_arrives_as_it_was_sent_and_its_answer_comes_back() throws Exception {
        try (Stub stub = new Stub(seen -> new Reply(201, Map.of("X-Answer", "yes"), "größer"));
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            OutboundAnswer answer = client.send(new OutboundCall(
                    "PUT", URI.create(stub.url("/a/b?c=d%20e")), Map.of("X-Custom", "1"), "{\"ä\":1}", LONG));
            assertThat(answer.status()).isEqualTo(201);
            assertThat(answer.text()).isEqualTo("größer");
            assertThat(answer.header("x-answer")).isEqualTo("yes");
            Stub.Seen seen = stub.seen.get(0);
            assertThat(seen.method()).isEqualTo("PUT");
            assertThat(seen.path()).isEqualTo("/a/b?c=d%20e");
            assertThat(seen.body()).isEqualTo("{\"ä\":1}");
            assertThat(seen.header("x-custom")).isEqualTo("1");
            assertThat(seen.header("host")).isEqualTo("127.0.0.1:" + stub.port());
            assertThat(seen.header("accept-encoding")).isNull();
        }
    }

    @Test
    void the_name_is_sent_though_the_connection_goes_to_the_address() throws Exception {
        try (Stub stub = new Stub(seen -> Reply.of(204));
                OutboundClient client =
                        client(List.of("127.0.0.1"), host -> List.of(AddressRange.literal("127.0.0.1")))) {
            client.send(get("http://hooks.example.org:" + stub.port() + "/"));
            assertThat(stub.seen.get(0).header("host")).isEqualTo("hooks.example.org:" + stub.port());
        }
    }

    @Test
    void nothing_that_the_guard_refuses_is_connected_to() {
        try (Stub stub = new Stub(seen -> Reply.of(200));
                OutboundClient client = client(List.of(), host -> List.of(AddressRange.literal("127.0.0.1")))) {
            for (String host : List.of("127.0.0.1", "localhost", "innocent.example.org", "[::ffff:127.0.0.1]")) {
                assertThatExceptionOfType(RefusedTargetException.class)
                        .isThrownBy(() -> client.send(get("http://" + host + ":" + stub.port() + "/")));
            }
            assertThat(stub.seen).isEmpty();
        }
    }

    /** DNS rebinding: what a name resolves to the second time is checked, and what was checked is what is called. */
    @Test
    void a_name_that_changes_its_address_gains_nothing() throws Exception {
        Queue<String> answers = new ArrayDeque<>(List.of("127.0.0.2", "127.0.0.1"));
        Resolver rebinding = host -> List.of(AddressRange.literal(answers.remove()));
        // The second port is chosen where nobody else listens or connects from.
        try (Stub victim = new Stub("127.0.0.1", 0, seen -> Reply.of(200));
                Stub meant = new Stub(
                        "127.0.0.2", victim.port(), seen -> Reply.of(200).header("Connection", "close"));
                OutboundClient client = client(List.of("127.0.0.2"), rebinding)) {
            String url = "http://rebinding.example.org:" + meant.port() + "/";
            assertThat(client.send(get(url)).status()).isEqualTo(200);
            assertThat(answers).as("one look at the name for one connection").hasSize(1);
            assertThatExceptionOfType(RefusedTargetException.class).isThrownBy(() -> client.send(get(url)));
            assertThat(meant.seen).hasSize(1);
            assertThat(victim.seen).isEmpty();
        }
    }

    @Test
    void a_redirect_is_not_followed_here() throws Exception {
        try (Stub stub = new Stub(seen -> Reply.of(302).header("Location", "/other"));
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            assertThat(client.send(get(stub.url("/"))).status()).isEqualTo(302);
            assertThat(stub.seen).hasSize(1);
        }
    }

    @Test
    void a_long_answer_is_cut_and_an_endless_one_is_not_read() throws Exception {
        try (Stub stub = new Stub(seen ->
                        Reply.of(200).body("x".repeat(seen.path().equals("/long") ? 20_000 : 3_000_000)));
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            for (String path : List.of("/long", "/endless")) {
                OutboundAnswer answer = client.send(get(stub.url(path)));
                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.text()).hasSize(OutboundAnswer.MAX_BODY);
                assertThat(answer.isTruncated()).isTrue();
            }
        }
    }

    @Test
    void no_answer_in_time_ends_the_call() {
        CountDownLatch hold = new CountDownLatch(1);
        try (Stub stub = new Stub(seen -> {
                    await(hold);
                    return Reply.of(200);
                });
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            OutboundCall brief =
                    new OutboundCall("GET", URI.create(stub.url("/")), Map.of(), "", Duration.ofMillis(50));
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> client.send(brief))
                    .withCauseInstanceOf(TimeoutException.class);
            hold.countDown();
        }
    }

    @Test
    void an_interrupt_ends_the_call() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch hold = new CountDownLatch(1);
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        try (Stub stub = new Stub(seen -> {
                    arrived.countDown();
                    await(hold);
                    return Reply.of(200);
                });
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            Thread thread = new Thread(() -> {
                try {
                    client.send(get(stub.url("/")));
                } catch (Exception e) {
                    thrown.set(e);
                }
            });
            thread.start();
            arrived.await();
            thread.interrupt();
            thread.join();
            assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
            hold.countDown();
        }
    }

    @Test
    void nobody_there_is_told_by_its_cause() {
        try (OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> client.send(get("http://127.0.0.1:1/")))
                    .withMessageContaining("127.0.0.1")
                    .withCauseInstanceOf(ConnectException.class);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
