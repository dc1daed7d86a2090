// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HealthTest {

    private static final int THREADS = 16;

    /** A store that does not answer who asks for one policy. */
    private static JobStore silent(CountDownLatch asked, CountDownLatch answer) {
        JobStore store = new InMemoryJobStore();
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("document") && args[0].equals("policy")) {
                        asked.countDown();
                        answer.await();
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void requests_that_wait_for_the_store_do_not_make_the_server_look_dead() throws Exception {
        HttpSettings.Limits limits = new HttpSettings.Limits(
                1 << 20, 16 << 10, 200, Duration.ofSeconds(30), Duration.ofSeconds(30), THREADS);
        CountDownLatch asked = new CountDownLatch(THREADS);
        CountDownLatch answer = new CountDownLatch(1);
        ExecutorService pool = Executors.newCachedThreadPool();
        try (TestServer server = new TestServer(silent(asked, answer), limits, 1_000_000)) {
            // A key has three eighths of the threads, so three keys take all.
            for (int key = 0; key < 3; key++) {
                String text = server.key("key " + key, null, Scope.READ);
                for (int i = 0; i < THREADS; i++) {
                    pool.execute(() -> server.send(text, "GET", "/v1/policies/slow", null));
                }
            }
            assertThat(asked.await(1, TimeUnit.MINUTES)).as("all threads wait").isTrue();
            assertThat(server.get("/healthz").status()).isEqualTo(200);
            answer.countDown();
        } finally {
            answer.countDown();
            pool.shutdown();
        }
    }
}
