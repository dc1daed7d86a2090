// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ThreadDriverTest {

    /** A role that works until it is let go, and then rests. */
    private static final class Working implements Role {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch released = new CountDownLatch(1);

        @Override
        public String name() {
            return "working";
        }

        @Override
        public Duration step() {
            begun.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return Duration.ofHours(1);
        }
    }

    @Test
    void a_role_tells_how_long_it_has_been_at_its_work() throws Exception {
        ThreadDriver driver = new ThreadDriver("test");
        Working role = new Working();
        driver.start(role);
        role.begun.await();
        Duration first = driver.busy().getOrDefault("working", Duration.ZERO);
        assertThat(first).isPositive();
        assertThat(driver.busy().get("working")).isGreaterThan(first);
        role.released.countDown();
        assertThat(driver.await(() -> Duration.ZERO.equals(driver.busy().get("working")), Duration.ofMinutes(1)))
                .isTrue();
        driver.stop(role);
        assertThat(driver.busy()).isEmpty();
    }
}
