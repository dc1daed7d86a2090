// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.remote.RemoteLease;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.testing.InMemoryJobStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker that begins hears of the fleet's breakers before it takes its first job. */
@Timeout(600)
class FirstClaimTest {

    private static final Duration LONG = Duration.ofMinutes(2);

    private interface Interceptor {
        Object call(String method, Callable<Object> real) throws Exception;
    }

    private static Reprise worker(Interceptor interceptor) {
        InMemoryJobStore store = new InMemoryJobStore();
        JobStore watched = (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(),
                new Class<?>[] {JobStore.class},
                (proxy, method, args) -> interceptor.call(method.getName(), () -> {
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw (Exception) e.getCause();
                    }
                }));
        return Reprise.builder()
                .store(watched)
                .codec(new TextCodec())
                .handle(WORK, (payload, job) -> {})
                .remoteWorkers()
                .start();
    }

    @Test
    void no_job_is_claimed_before_the_store_has_told_them() {
        CountDownLatch claim = new CountDownLatch(1);
        AtomicBoolean told = new AtomicBoolean();
        AtomicBoolean early = new AtomicBoolean();
        try (Reprise reprise = worker((method, real) -> {
            if (method.equals("claim")) {
                early.compareAndSet(false, !told.get());
                claim.countDown();
            }
            if (method.equals("controls") && !told.get()) {
                // Long enough for a worker that does not wait for the answer.
                boolean unused = claim.await(300, TimeUnit.MILLISECONDS);
                told.set(true);
            }
            return real.call();
        })) {
            assertThat(reprise.await(reprise.enqueue(WORK.job("a")), LONG).succeeded())
                    .isTrue();
        }
        assertThat(early).isFalse();
    }

    @Test
    void no_job_is_leased_to_a_remote_worker_before_the_store_has_told_them() {
        CountDownLatch claim = new CountDownLatch(1);
        AtomicBoolean told = new AtomicBoolean();
        AtomicBoolean early = new AtomicBoolean();
        JobType<String> remote = JobType.of("remote", String.class);
        try (Reprise reprise = worker((method, real) -> {
            if (method.equals("claim")) {
                early.compareAndSet(false, !told.get());
                claim.countDown();
            }
            if (method.equals("controls") && !told.get()) {
                // Long enough for a request that does not wait for the answer.
                boolean unused = claim.await(300, TimeUnit.MILLISECONDS);
                told.set(true);
            }
            return real.call();
        })) {
            reprise.enqueue(remote.job("a"));
            assertThat(reprise.remoteWorkers()
                            .lease(new RemoteLease.LeaseRequest("w", List.of("default"), Set.of(), 1, LONG)))
                    .hasSize(1);
        }
        assertThat(early).isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_worker_that_will_never_know_them_works_all_the_same(boolean ofTheStore) {
        try (Reprise reprise = worker((method, real) -> {
            if (method.equals("controls")) {
                throw ofTheStore
                        ? new StoreException("no right to read it", new IOException(), false)
                        : new IllegalStateException("nobody understands it");
            }
            return real.call();
        })) {
            assertThat(reprise.await(reprise.enqueue(WORK.job("a")), LONG).succeeded())
                    .isTrue();
        }
    }
}
