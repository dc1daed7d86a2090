// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.store.JobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class ClockLeapTest {

    private Duration ahead = Duration.ZERO;
    private int takeOvers;

    private JobStore leaping(JobStore store) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    takeOvers += method.getName().equals("takeOver") ? 1 : 0;
                    try {
                        Object answer = method.invoke(store, args);
                        return method.getName().equals("now") ? ((Instant) answer).plus(ahead) : answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private int during(EngineFixture engine, Duration time) {
        takeOvers = 0;
        engine.worker.advance(time);
        return takeOvers;
    }

    @Test
    void after_a_leap_of_the_clock_those_who_live_may_renew_their_leases_first() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {}, builder -> builder.lease(Duration.ofSeconds(30)), this::leaping)) {
            assertThat(during(engine, Duration.ofSeconds(10))).isPositive();
            ahead = Duration.ofHours(1);
            assertThat(during(engine, Duration.ofSeconds(10))).isZero();
            ahead = Duration.ZERO;
            assertThat(during(engine, Duration.ofSeconds(25))).isZero();
            assertThat(during(engine, Duration.ofSeconds(20))).isPositive();
        }
    }
}
