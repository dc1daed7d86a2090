// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.control.BudgetSettings;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class RetryBudgetTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final BudgetSettings SETTINGS = BudgetSettings.OF_RESOURCE;

    /** Empty, with retries that wait. */
    private static RetryBudget empty() {
        return RetryBudget.full(SETTINGS, NOW).waiting(true).plus(-SETTINGS.capacity(), SETTINGS);
    }

    @Test
    void without_a_success_the_floor_lets_one_retry_go_each_second() {
        assertThat(empty().timeFor(90, SETTINGS, NOW)).hasSeconds(90);
    }

    @Test
    void what_several_workers_spent_at_once_does_not_keep_the_floor_back() {
        RetryBudget overspent = empty();
        for (int worker = 0; worker < 32; worker++) {
            overspent = overspent.plus(-SETTINGS.capacity(), SETTINGS);
        }
        assertThat(overspent.at(SETTINGS, NOW.plusSeconds(1)).grants()).isEqualTo(1);
        assertThat(RetryBudget.parse("level=-172638", NOW).level()).isZero();
    }

    @Test
    void the_estimate_follows_what_was_granted_and_forgets_it_when_no_more_is() {
        RetryBudget budget = empty();
        Instant now = NOW;
        for (int second = 0; second < 20; second++) {
            now = now.plusSeconds(1);
            budget = budget.at(SETTINGS, now)
                    .plus(RetryBudget.costOf(100), SETTINGS)
                    .granted(100, SETTINGS, now);
        }
        assertThat(budget.timeFor(1_000, SETTINGS, now)).isBetween(Duration.ofSeconds(9), Duration.ofSeconds(11));
        assertThat(budget.timeFor(1_000, SETTINGS, now.plusSeconds(60)))
                .isBetween(Duration.ofSeconds(980), Duration.ofSeconds(1_000));
    }
}
