// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.Queue;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
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
            for (int i = 0; i < asked && gate.admits(new FlowKey("a", "work")); i++) {
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
        assertThat(gate.admits(new FlowKey("a", "work"))).isTrue();
        assertThat(gate.admits(new FlowKey("a", "work"))).isFalse();
        assertThat(gate.admits(new FlowKey(null, "work"))).isTrue();
        assertThat(gate.admits(new FlowKey("b", "work"))).as("the queue's rate").isFalse();
        assertThat(gate.changed()).containsKeys("a", FlowGate.QUEUE);
    }

    @Test
    void a_type_has_room_of_its_own_and_a_claim_no_more_than_the_worker_has() {
        GroupRules rules = GroupRules.EQUAL
                .type("slow", FlowLimit.running(3))
                .type("slow", FlowLimit.rate(1, Duration.ofHours(1)).burst(2))
                .taking(Map.of("fast", 1));
        FlowGate gate = new FlowGate(rules, 0, Map.of(FlowGate.ofType("slow"), 1, "slow", 3), Map.of());
        FlowKey slow = new FlowKey("a", "slow");
        FlowKey fast = new FlowKey(null, "fast");
        assertThat(gate.room(slow)).isEqualTo(2);
        assertThat(gate.fullTypes()).isEmpty();
        assertThat(gate.admits(slow)).isTrue();
        assertThat(gate.admits(slow)).isTrue();
        assertThat(gate.admits(slow)).isFalse();
        assertThat(gate.admits(fast)).isTrue();
        assertThat(gate.admits(fast)).isFalse();
        assertThat(gate.admits(new FlowKey(null, "other"))).isTrue();
        assertThat(gate.fullTypes()).containsExactlyInAnyOrder("slow", "fast");
        assertThat(gate.changed()).containsOnlyKeys(FlowGate.ofType("slow"));
    }

    @Test
    void the_key_of_a_type_is_no_name_of_a_group_and_never_too_long() {
        assertThat(FlowGate.ofType("mail")).isEqualTo("/mail");
        String one = "x".repeat(99) + "1";
        String other = "x".repeat(99) + "2";
        assertThat(FlowGate.ofType(one)).hasSize(100).isNotEqualTo(FlowGate.ofType(other));
        assertThat(FlowGate.ofType("x".repeat(99))).hasSize(100);
    }

    @Test
    void a_reached_limit_says_what_it_is_of_and_until_when_it_holds() {
        GroupRules rules = GroupRules.EQUAL
                .limit("*", FlowLimit.running(2))
                .type("mail", FlowLimit.rate(60, Duration.ofMinutes(1)).burst(2))
                .rate(FlowLimit.rate(1, Duration.ofSeconds(10)));
        long now = 1_000_000_000L;
        FlowGate gate = new FlowGate(rules, now, Map.of("a", 2), Map.of("/mail", now + 2_000_000, "", now + 4_000_000));
        List<FlowGate.Reached> reached = gate.reached(new FlowKey("a", "mail"));
        assertThat(reached)
                .extracting(FlowGate.Reached::of)
                .containsExactly(FlowGate.Reached.Of.QUEUE, FlowGate.Reached.Of.GROUP, FlowGate.Reached.Of.TYPE);
        assertThat(reached)
                .extracting(FlowGate.Reached::until)
                .containsExactly(Instant.ofEpochSecond(1_004), null, Instant.ofEpochSecond(1_001));
        assertThat(reached.get(1).running()).isEqualTo(2);
        assertThat(gate.reached(new FlowKey("b", "other")))
                .extracting(FlowGate.Reached::of)
                .containsExactly(FlowGate.Reached.Of.QUEUE);
    }

    @Test
    void rules_are_joined_name_by_name_and_an_empty_limit_takes_one_away() {
        GroupRules code = GroupRules.EQUAL
                .weight("a", 2)
                .weight("b", 3)
                .limit("*", FlowLimit.running(5))
                .type("mail", FlowLimit.running(1));
        GroupRules told = GroupRules.EQUAL.weight("b", 7).limit("*", FlowLimit.NONE);
        GroupRules all = told.orElse(code);
        assertThat(all.weightOf("a")).isEqualTo(2);
        assertThat(all.weightOf("b")).isEqualTo(7);
        assertThat(all.limitOf("x")).isEqualTo(FlowLimit.NONE);
        assertThat(all.limitOfType("mail").running()).isEqualTo(1);
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
                .withMessageContaining("this limit has no rate");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Queue.of("mail").rate(FlowLimit.running(5)))
                .withMessageContaining("must not limit what runs");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Queue.of("mail").perGroup("a b", FlowLimit.running(5)))
                .withMessageContaining("group 'a b'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Queue.of("mail").perGroup("a\n*", FlowLimit.running(5)))
                .withMessageContaining("is not a name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Queue.of("mail").perType("mail*", FlowLimit.running(5)))
                .withMessageContaining("type 'mail*'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Queue.of("mail").weight("gold", 0))
                .withMessageContaining("weight of group 'gold'");
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
