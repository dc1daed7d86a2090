// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A claim whose answer comes when lease or deadline are over: the worker pauses, or the network does. */
class LateAnswerTest {

    private final AtomicReference<Duration> delay = new AtomicReference<>(Duration.ZERO);
    private final AtomicReference<EngineFixture> fixture = new AtomicReference<>();

    /** The next claim that finds something is answered late, once. */
    private JobStore late(JobStore store) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, arguments) -> {
                    try {
                        Object answer = method.invoke(store, arguments);
                        if (method.getName().equals("claim") && !answer.equals(List.of())) {
                            fixture.get().clock.advance(delay.getAndSet(Duration.ZERO));
                        }
                        return answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private EngineFixture engine() {
        EngineFixture engine =
                new EngineFixture((payload, job) -> {}, b -> b.lease(Duration.ofSeconds(30)), this::late);
        fixture.set(engine);
        return engine;
    }

    @Test
    void no_run_begins_after_its_deadline() {
        try (EngineFixture engine = engine()) {
            delay.set(Duration.ofSeconds(20));
            JobId id =
                    engine.reprise.enqueue(WORK.job("a").retry(RetryPolicy.DEFAULT.deadline(Duration.ofSeconds(10))));
            engine.worker.runDue();
            engine.worker.advance(Duration.ofSeconds(10));
            assertThat(engine.ran).isEmpty();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.DEADLINE);
        }
    }

    @Test
    void no_run_begins_under_a_lease_that_is_over() {
        try (EngineFixture engine = engine()) {
            delay.set(Duration.ofSeconds(31));
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.runDue();
            engine.worker.advance(Duration.ofSeconds(10));
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            long token = engine.reprise.attempts(id).get(0).token();
            assertThat(token).as("not the first claim's").isGreaterThan(1);
        }
    }
}
