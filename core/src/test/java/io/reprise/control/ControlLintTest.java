// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.retry.RetryPlan.Warning;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ControlLintTest {

    private static final RetryPolicy SHORT = RetryPolicy.DEFAULT.deadline(Duration.ofSeconds(15));
    private static final RetryPolicy LONG = RetryPolicy.DEFAULT.deadline(Duration.ofHours(1));

    private static List<Warning> of(BreakerSettings breaker, BudgetSettings budget, RetryPolicy... policies) {
        return ControlLint.of("resource 'smtp'", breaker, budget, List.of(policies));
    }

    @Test
    void the_defaults_are_clean() {
        assertThat(of(BreakerSettings.DEFAULT, BudgetSettings.OF_RESOURCE, RetryPolicy.DEFAULT))
                .isEmpty();
    }

    @Test
    void a_deadline_that_ends_before_the_next_probe_is_named_with_both_times() {
        // 3 probes in at most 60 s: 20 s between two of them.
        assertThat(of(BreakerSettings.DEFAULT, BudgetSettings.OF_RESOURCE, SHORT))
                .singleElement()
                .satisfies(warning -> {
                    assertThat(warning.code()).isEqualTo("deadline-before-probe");
                    assertThat(warning.message()).contains("resource 'smtp'", "20.0 s", "15.0 s");
                });
    }

    @Test
    void one_policy_that_lives_long_enough_to_be_a_probe_suffices() {
        assertThat(of(BreakerSettings.DEFAULT, BudgetSettings.OF_RESOURCE, SHORT, LONG))
                .isEmpty();
        assertThat(of(BreakerSettings.DEFAULT, BudgetSettings.OF_RESOURCE, SHORT, RetryPolicy.DEFAULT.noDeadline()))
                .isEmpty();
        assertThat(of(BreakerSettings.off(), BudgetSettings.OF_RESOURCE, SHORT)).isEmpty();
    }

    @Test
    void a_budget_that_is_hardly_ever_filled_is_named() {
        BudgetSettings slow = BudgetSettings.OF_RESOURCE.floor(0.01);
        assertThat(of(BreakerSettings.DEFAULT, slow, LONG)).singleElement().satisfies(warning -> {
            assertThat(warning.code()).isEqualTo("budget-without-floor");
            assertThat(warning.message()).contains("resource 'smtp'", "every 100.0 s");
        });
        assertThat(of(BreakerSettings.DEFAULT, slow.off(), LONG)).isEmpty();
        assertThat(of(BreakerSettings.DEFAULT, slow.floor(1 / 60.0), LONG)).isEmpty();
    }

    @Test
    void a_rate_limit_below_one_job_per_lease_is_named_with_both_times() {
        Duration lease = Duration.ofSeconds(30);
        assertThat(ControlLint.rate("queue 'mail'", Duration.ofSeconds(31), lease))
                .hasValueSatisfying(warning -> {
                    assertThat(warning.code()).isEqualTo("rate-below-lease");
                    assertThat(warning.message()).contains("queue 'mail'", "every 31.0 s", "lease of 30.0 s");
                });
        assertThat(ControlLint.rate("queue 'mail'", lease, lease)).isEmpty();
        assertThat(ControlLint.rate("queue 'mail'", Duration.ZERO, lease)).isEmpty();
    }
}
