// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.Queue;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlowGateTest {

    /** Whatever the claims ask for and whenever they come, a rate is kept over every stretch of time. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void a_rate_is_kept_over_a_minute_and_its_burst(long seed) {
        Random random = new Random(seed);
        int perSecond = 1 + random.nextInt(300);
        int burst = 1 + random.nextInt(50);
        GroupRules rules = GroupRules.EQUAL.limit(
                "*", FlowLimit.rate(perSecond, Duration.ofSeconds(1)).burst(burst));
        Map<String, Long> stored = new HashMap<>();
        long now = 1_000_000_000L;
        long end = now + 60_000_000L;
        long starts = 0;
        while (now < end) {
            FlowGate gate = new FlowGate(rules, now, Map.of(), stored);
            int asked = random.nextInt(40);
            for (int i = 0; i < asked && gate.admits("a"); i++) {
                starts++;
            }
            stored.putAll(gate.changed());
            now += 1 + random.nextInt(4_000);
        }
        long most = 60L * perSecond + burst;
        assertThat(starts).isLessThanOrEqualTo(most + 1).isGreaterThanOrEqualTo((long) (60L * perSecond * 0.99) - 1);
    }

    @Test
    void room_is_what_is_left_of_the_least_limit() {
        GroupRules rules = GroupRules.EQUAL
                .limit("*", FlowLimit.running(5))
                .limit("*", FlowLimit.rate(10, Duration.ofSeconds(10)).burst(3))
                .rate(FlowLimit.rate(2, Duration.ofSeconds(1)).burst(2));
        FlowGate gate = new FlowGate(rules, 0, Map.of("a", 4), Map.of());
        assertThat(gate.room("a")).isEqualTo(1);
        assertThat(gate.room("b")).isEqualTo(2);
        assertThat(gate.admits("a")).isTrue();
        assertThat(gate.admits("a")).isFalse();
        assertThat(gate.admits(null)).isTrue();
        assertThat(gate.admits("b")).as("the queue's rate").isFalse();
        assertThat(gate.changed()).containsKeys("a", FlowGate.QUEUE);
    }

    @Test
    void bad_limits_are_refused_by_name() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlowLimit.rate(10, Duration.ZERO))
                .withMessageContaining("time of a rate");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlowLimit.running(0))
                .withMessageContaining("running");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FlowLimit.running(5).burst(2))
                .withMessageContaining("a rate has");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Queue.of("mail").rate(FlowLimit.running(5)))
                .withMessageContaining("must not limit what runs");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Queue.of("mail").perGroup("a b", FlowLimit.running(5)))
                .withMessageContaining("group 'a b'");
    }

    @Test
    void the_burst_is_about_a_second() {
        assertThat(FlowLimit.rate(100, Duration.ofSeconds(1)).burst()).isEqualTo(100);
        assertThat(FlowLimit.rate(100, Duration.ofMinutes(1)).burst()).isEqualTo(1);
        assertThat(FlowLimit.rate(600, Duration.ofMinutes(1)).burst()).isEqualTo(10);
        assertThat(FlowLimit.rate(5, Duration.ofHours(1)).burst()).isEqualTo(1);
        assertThat(FlowLimit.rate(5, Duration.ofMillis(1)).burst()).isEqualTo(5);
    }
}
