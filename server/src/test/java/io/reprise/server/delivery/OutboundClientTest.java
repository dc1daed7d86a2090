// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.server.delivery.Stub.Reply;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Over real sockets. */
class OutboundClientTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private static OutboundCall get(String url) {
        return new OutboundCall("GET", URI.create(url), Map.of(), "", LONG);
    }

    /** Waits for the answer and throws what it failed of. */
    static OutboundAnswer send(OutboundClient client, OutboundCall call) throws IOException {
        try {
            return client.send(call, new CompletableFuture<Void>()).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw e.getCause() instanceof RuntimeException failure ? failure : e;
        }
    }

    private static OutboundClient client(List<String> allowed, Resolver resolver) {
        return new OutboundClient(new OutboundGuard(allowed, Set.of(), resolver));
    }

    @Test
    void a_call_arrives_as_it_was_sent_and_its_answer_comes_back() throws Exception {
        try (Stub stub = new Stub(seen -> new Reply(201, Map.of("X-Answer", "yes"), "größer"));
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            OutboundAnswer answer = send(
                    client,
                    new OutboundCall(
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
            send(client, get("http://hooks.example.org:" + stub.port() + "/"));
            assertThat(stub.seen.get(0).header("host")).isEqualTo("hooks.example.org:" + stub.port());
        }
    }

    @Test
    void nothing_that_the_guard_refuses_is_connected_to() {
        try (Stub stub = new Stub(seen -> Reply.of(200));
                OutboundClient client = client(List.of(), host -> List.of(AddressRange.literal("127.0.0.1")))) {
            for (String host : List.of("127.0.0.1", "localhost", "innocent.example.org", "[::ffff:127.0.0.1]")) {
                assertThatExceptionOfType(RefusedTargetException.class)
                        .isThrownBy(() -> send(client, get("http://" + host + ":" + stub.port() + "/")));
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
            assertThat(send(client, get(url)).status()).isEqualTo(200);
            assertThat(answers).as("one look at the name for one connection").hasSize(1);
            assertThatExceptionOfType(RefusedTargetException.class).isThrownBy(() -> send(client, get(url)));
            assertThat(meant.seen).hasSize(1);
            assertThat(victim.seen).isEmpty();
        }
    }

    @Test
    void a_redirect_is_not_followed_here() throws Exception {
        try (Stub stub = new Stub(seen -> Reply.of(302).header("Location", "/other"));
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            assertThat(send(client, get(stub.url("/"))).status()).isEqualTo(302);
            assertThat(stub.seen).hasSize(1);
        }
    }

    @Test
    void a_long_answer_is_cut_and_an_endless_one_is_not_read() throws Exception {
        try (Stub stub = new Stub(seen ->
                        Reply.of(200).body("x".repeat(seen.path().equals("/long") ? 20_000 : 3_000_000)));
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            for (String path : List.of("/long", "/endless")) {
                OutboundAnswer answer = send(client, get(stub.url(path)));
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
                    .isThrownBy(() -> send(client, brief))
                    .withCauseInstanceOf(TimeoutException.class);
            hold.countDown();
        }
    }

    @Test
    void a_call_that_is_cut_off_ends_at_once_and_its_connection_with_it() throws Exception {
        CompletableFuture<Void> stop = new CompletableFuture<>();
        try (ServerSocket silent = new ServerSocket(0, 1, AddressRange.literal("127.0.0.1"));
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            CompletableFuture<OutboundAnswer> answer =
                    client.send(get("http://127.0.0.1:" + silent.getLocalPort() + "/"), stop);
            try (Socket connection = silent.accept()) {
                connection.getInputStream().read();
                stop.complete(null);
                assertThatThrownBy(answer::join).hasCauseInstanceOf(IOException.class);
                connection.getInputStream().readAllBytes();
            }
        }
    }

    @Test
    void a_call_that_was_cut_off_before_it_began_fails() {
        try (Stub stub = new Stub(seen -> Reply.of(200));
                OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            CompletableFuture<OutboundAnswer> answer =
                    client.send(get(stub.url("/")), CompletableFuture.completedFuture(null));
            assertThatThrownBy(answer::join).hasCauseInstanceOf(IOException.class);
        }
    }

    @Test
    void nobody_there_is_told_by_its_cause() {
        try (OutboundClient client = client(List.of("127.0.0.1"), Resolver.SYSTEM)) {
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> send(client, get("http://127.0.0.1:1/")))
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

    @Test
    void names_that_are_slow_to_resolve_hold_up_only_whose_they_are() throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        try (Stub stub = new Stub(seen -> Stub.Reply.of(200));
                OutboundClient client = client(List.of("127.0.0.1"), host -> {
                    if (host.endsWith(".tarpit.example")) {
                        await(answered);
                    }
                    return List.of(AddressRange.literal("127.0.0.1"));
                })) {
            for (int i = 0; i < 100; i++) {
                URI slow = URI.create("http://n" + i + ".tarpit.example/");
                OutboundCall call = new OutboundCall("GET", slow, Map.of(), "", Duration.ofMillis(1), "evil");
                assertThatThrownBy(() -> send(client, call)).isInstanceOf(IOException.class);
            }
            URI fast = URI.create("http://fast.example:" + stub.port() + "/");
            OutboundCall call = new OutboundCall("GET", fast, Map.of(), "", Duration.ofMinutes(1), "victim");
            assertThat(send(client, call).status()).isEqualTo(200);
            assertThat(Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> thread.getName().equals("reprise-names")))
                    .hasSizeLessThan(40);
            answered.countDown();
        }
    }
}
