// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.testing.InMemoryJobStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What clients hear while the store does not answer. */
class OutageTest {

    private final AtomicBoolean down = new AtomicBoolean();
    private volatile CountDownLatch answers = new CountDownLatch(0);

    private JobStore unreliable() {
        InMemoryJobStore store = new InMemoryJobStore();
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (down.get() && !method.getName().equals("close")) {
                        throw new StoreException("db.internal:5432 refused user-zoe", new IOException("refused"));
                    }
                    answers.await();
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void a_store_that_keeps_silent_is_not_waited_for() {
        try (TestServer server = new TestServer(unreliable(), HttpSettings.Limits.DEFAULT, 1_000_000)) {
            answers = new CountDownLatch(1);
            try {
                Reply ready = server.send(null, "GET", "/readyz", null);
                assertThat(ready.status()).isEqualTo(503);
                assertThat(ready.raw().body()).contains("the store does not answer");
            } finally {
                answers.countDown();
            }
            assertThat(TestServer.await(() -> server.get("/readyz").status() == 200 ? "ready" : null))
                    .isEqualTo("ready");
        }
    }

    @Test
    void clients_are_told_to_come_back_and_nothing_of_the_inside() {
        try (TestServer server = new TestServer(unreliable(), HttpSettings.Limits.DEFAULT, 1_000_000)) {
            assertThat(server.get("/readyz").status()).isEqualTo(200);
            down.set(true);
            Reply ready = server.send(null, "GET", "/readyz", null);
            assertThat(ready.status()).isEqualTo(503);
            assertThat(ready.raw().body())
                    .contains("the store does not answer")
                    .doesNotContain("db.internal", "user-zoe");
            assertThat(server.send(null, "GET", "/healthz", null).status()).isEqualTo(200);
            Reply refused = server.post("/v1/jobs", "{\"type\":\"a\"}");
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.problem()).isEqualTo("unavailable");
            assertThat(refused.raw().headers().firstValue("Retry-After")).isPresent();
            assertThat(refused.raw().body()).doesNotContain("db.internal", "user-zoe");
            down.set(false);
            assertThat(server.enqueue("{\"type\":\"a\"}")).isNotEmpty();
        }
    }
}
