// SPDX-License-Identifier: Apache-2.0
package io.reprise.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Queue;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A stored time holds nobody back for longer than the present rate would. */
class FlowGateClockTest {

    private static final long NOW = TimeUnit.DAYS.toMicros(20_000);
    private static final FlowKey JOB = new FlowKey(null, "report");

    private static GroupRules rate(FlowLimit limit) {
        return Queue.of("mail").rate(limit).groups();
    }

    private static Instant at(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    private static FlowGate gate(FlowLimit limit, long now, Map<String, Long> rates) {
        return new FlowGate(rate(limit), now, Map.of(), rates);
    }

    @Test
    void a_rate_that_is_raised_is_not_held_back_by_the_old_one() {
        FlowGate slow = gate(FlowLimit.rate(1, Duration.ofDays(1)), NOW, Map.of());
        assertThat(slow.admits(JOB)).isTrue();

        FlowGate quick = gate(FlowLimit.rate(100, Duration.ofSeconds(1)).burst(10), NOW, slow.changed());
        assertThat(quick.admits(JOB)).isTrue();
        assertThat(quick.admits(JOB)).isFalse();
        assertThat(quick.reached(JOB).get(0).until()).isEqualTo(at(NOW + 10_000));
    }

    @Test
    void a_clock_that_goes_back_stops_nothing() {
        FlowLimit limit = FlowLimit.rate(1, Duration.ofSeconds(1));
        FlowGate ahead = gate(limit, NOW + TimeUnit.DAYS.toMicros(365), Map.of());
        assertThat(ahead.admits(JOB)).isTrue();

        FlowGate back = gate(limit, NOW, ahead.changed());
        assertThat(back.admits(JOB)).isTrue();
        assertThat(back.admits(JOB)).isFalse();
        assertThat(back.changed()).containsEntry(FlowGate.QUEUE, NOW + 1_000_000);
    }

    @Test
    void a_clock_that_is_a_little_behind_exceeds_no_rate() {
        FlowLimit limit = FlowLimit.rate(1, Duration.ofSeconds(1));
        FlowGate ahead = gate(limit, NOW, Map.of());
        assertThat(ahead.admits(JOB)).isTrue();
        assertThat(gate(limit, NOW - 3_000_000, ahead.changed()).admits(JOB)).isFalse();
    }
}
