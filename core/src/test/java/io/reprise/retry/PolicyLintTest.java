// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.retry.RetryPlan.Warning;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PolicyLintTest {

    private final RetryPolicy fine = RetryPolicy.exponential(ofSeconds(1));

    @Test
    void the_default_has_no_warnings() {
        assertThat(codes(RetryPolicy.DEFAULT)).isEmpty();
        assertThat(codes(RetryPolicy.unset())).isEmpty();
        assertThat(codes(RetryPolicy.none())).isEmpty();
        assertThat(codes(fine)).isEmpty();
        assertThat(RetryPlan.of(RetryPolicy.DEFAULT, 100).warnings()).isEmpty();
    }

    @Test
    void constant_at_cap() {
        RetryPolicy conduit = Presets.get("conduit");
        assertThat(codes(conduit)).doesNotContain("constant-at-cap");
        assertThat(codes(conduit.maxAttempts(9))).doesNotContain("constant-at-cap");
        assertThat(codes(conduit.maxAttempts(10))).contains("constant-at-cap");
        assertThat(RetryPlan.of(conduit, 9).warnings())
                .filteredOn(warning -> warning.code().equals("constant-at-cap"))
                .singleElement()
                .satisfies(warning -> assertThat(warning.message()).contains("From retry 9", "PT1H"));
    }

    @Test
    void deadline_before_worst_case() {
        RetryPolicy policy = RetryPolicy.fixed(ofMinutes(1)).maxAttempts(6);
        assertThat(codes(policy.deadline(ofMinutes(5)))).containsExactly("deadline-before-worst-case");
        assertThat(codes(policy.deadline(ofMinutes(6)))).isEmpty();
    }

    @Test
    void no_jitter() {
        assertThat(codes(fine.jitter(Jitter.none()))).containsExactly("no-jitter");
        assertThat(codes(fine.jitter(Jitter.none()).maxAttempts(1))).doesNotContain("no-jitter");
    }

    @Test
    void unlimited_without_deadline() {
        assertThat(codes(fine.unlimited().noDeadline())).containsExactly("unlimited-without-deadline");
        assertThat(codes(fine.unlimited())).isEmpty();
    }

    @Test
    void no_cap() {
        assertThat(codes(fine.noCap().noDeadline())).containsExactly("no-cap");
        assertThat(codes(fine.noCap().maxAttempts(5))).isEmpty();
    }

    @Test
    void jitter_above_cap() {
        assertThat(codes(Presets.get("omniq-unlimited"))).contains("jitter-above-cap");
        assertThat(codes(Presets.get("omniq"))).isEmpty();
    }

    @Test
    void single_attempt_with_backoff() {
        assertThat(codes(fine.maxAttempts(1))).containsExactly("single-attempt-with-backoff");
    }

    @Test
    void zero_delay() {
        assertThat(codes(RetryPolicy.fixed(Duration.ZERO))).containsExactly("zero-delay");
        assertThat(codes(RetryPolicy.fixed(Duration.ZERO).minDelay(ofSeconds(1))))
                .isEmpty();
    }

    @Test
    void backoff_unused() {
        assertThat(codes(RetryPolicy.linear(ofSeconds(1)).jitter(Jitter.decorrelated())))
                .containsExactly("backoff-unused");
    }

    @Test
    void table_longer_than_attempts() {
        assertThat(codes(RetryPolicy.table(ofSeconds(1), ofSeconds(2)).maxAttempts(2)))
                .containsExactly("table-longer-than-attempts");
    }

    @Test
    void cap_below_base() {
        assertThat(codes(RetryPolicy.exponential(ofHours(2)).maxAttempts(2))).containsExactly("cap-below-base");
    }

    @Test
    void min_delay_above_cap() {
        assertThat(codes(RetryPolicy.unset().minDelay(ofHours(2)).maxAttempts(2)))
                .containsExactly("min-delay-above-cap");
    }

    private static List<String> codes(RetryPolicy policy) {
        return RetryPlan.of(policy, 0).warnings().stream().map(Warning::code).toList();
    }
}
