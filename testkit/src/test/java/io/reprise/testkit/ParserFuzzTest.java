// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ForcedBy;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.internal.control.Breaker;
import io.reprise.internal.control.CallCounts;
import io.reprise.internal.control.RetryBudget;
import io.reprise.internal.upkeep.ScheduleRule;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.retry.AttemptHistory;
import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testkit.fuzz.Fuzz;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever core reads, it takes or refuses with a reason; and what it took it can work with. */
class ParserFuzzTest {

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private static final String RULES = "{\"rules\":[{\"name\":\"busy\",\"class\":\"THROTTLED\",\"types\":[\"a.B\"],"
            + "\"codes\":[\"E1\"],\"statuses\":[429,503],\"messages\":[\"too (many|much)\"]}],\"losses\":"
            + "{\"counts\":true,\"backoff\":false,\"max\":3},\"giveUpBelow\":{\"probability\":0.01,\"minSamples\":50}}";

    private static List<String> policies() {
        List<String> policies = new ArrayList<>(List.of(RULES, "{}", "{\"cap\":null,\"maxAttempts\":null}"));
        Presets.names().forEach(name -> policies.add(Presets.get(name).toJson()));
        return policies;
    }

    @Test
    void a_policy_is_read_or_refused_and_what_was_read_can_decide() {
        Failure failure = Failure.of(FailureClass.TRANSIENT, "a.B", "too many");
        Fuzz.texts(20_000, policies(), text -> {
            RetryPolicy policy;
            try {
                policy = RetryPolicy.fromJson(text);
            } catch (IllegalArgumentException e) {
                Fuzz.requireClear(e);
                return;
            }
            assertThat(RetryPolicy.fromJson(policy.toJson())).isEqualTo(policy);
            for (int attempts : new int[] {0, 1, 50, 1_000_000}) {
                AttemptHistory history = new AttemptHistory(attempts, 0, Duration.ofSeconds(1), null);
                policy.decide(failure, history, null, new SplittableRandom(1));
            }
        });
    }

    @Test
    void a_schedule_is_read_or_refused_and_what_was_read_has_a_next_firing() {
        List<String> rules = List.of(
                "cron|0 3 * * *|Europe/Paris|ONCE|false",
                "cron|*/5 9-17 * * MON-FRI|UTC|SKIP|true",
                "cron|0 0 0 L * ?|America/New_York|ALL|false",
                "cron|30 10 1,15 2/3 *|Asia/Kolkata|ONCE|false",
                "delay|PT5M|UTC|ONCE|false|start=2026-01-01T00:00:00Z|end=2027-01-01T00:00:00Z|jitter=PT1M|now",
                "every|PT5M|UTC|ONCE|false");
        Fuzz.texts(5_000, rules, text -> {
            ScheduleRule rule;
            try {
                rule = ScheduleRule.parse("nightly", text);
            } catch (IllegalArgumentException e) {
                Fuzz.requireClear(e);
                return;
            }
            assertThat(rule.next(NOW, NOW)).isAfter(NOW);
        });
    }

    @Test
    void control_state_of_whatever_text_neither_throws_nor_lasts() {
        Instant now = NOW;
        Breaker open = Breaker.closed(now)
                .after(
                        new CallCounts(new CallCounts.Counts(0, 500, 0, 0, 0, 0), CallCounts.Counts.NONE, 0, 0, 0),
                        BreakerSettings.DEFAULT,
                        now,
                        new SplittableRandom(1));
        List<String> states = List.of(
                open.text(),
                Breaker.closed(now)
                        .forced(true, new ForcedBy("ada", "repair"), now)
                        .text(),
                RetryBudget.full(BudgetSettings.OF_ALL, now).text());
        Fuzz.texts(20_000, states, text -> {
            Breaker breaker = Breaker.parse(text, now);
            Breaker.parse(breaker.text(), now);
            Breaker moved = breaker.at(BreakerSettings.DEFAULT, now.plusSeconds(60))
                    .after(CallCounts.NOTHING, BreakerSettings.DEFAULT, now.plusSeconds(61), new SplittableRandom(1));
            assertThat(moved.permits()).isNotNegative();
            moved.letThrough(1).drained(now).automatic(now).isAtRest(BreakerSettings.DEFAULT, now);
            RetryBudget budget = RetryBudget.parse(text, now).at(BudgetSettings.OF_ALL, now.plusSeconds(60));
            assertThat(budget.plus(1, BudgetSettings.OF_ALL).grants()).isNotNegative();
        });
    }

    /** Found by reading and by fuzzing, and kept. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "every|PT0S|UTC|ONCE|false",
                "every|-PT5M|UTC|ONCE|false",
                "every|PT2562047788015215H|UTC|ONCE|false",
                "cron|*/0 * * * *|UTC|ONCE|false",
                "cron||UTC|ONCE|false",
                "|",
                ""
            })
    void a_schedule_that_could_not_fire_is_refused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ScheduleRule.parse("nightly", text))
                .withMessageContaining("nightly");
    }

    @Test
    void digits_of_other_scripts_are_no_json() {
        String text = "{\"\\u0062ase\":\"PT1S\"}";
        assertThat(RetryPolicy.fromJson(text).toJson()).isEqualTo("{\"base\":\"PT1S\"}");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fromJson(text.replace('0', '\u0660')))
                .withMessageContaining("hexadecimal");
    }

    @Test
    void a_refusal_does_not_repeat_a_long_text() {
        String name = "x".repeat(100_000);
        for (String text : List.of(
                "{\"" + name + "\":1}",
                "{\"" + name + "\":1,\"" + name + "\":2}",
                "{\"base\":\"" + name + "\"}",
                "{\"jitter\":\"" + name + "\"}",
                "{\"backoff\":\"" + name + "\"}",
                "{\"rules\":[{\"name\":\"" + name + "\",\"class\":\"x\"}]}")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RetryPolicy.fromJson(text))
                    .satisfies(Fuzz::requireClear);
        }
    }

    /** Written while the store's clock was wrong by a century, or by nobody knows whom. */
    @Test
    void a_breaker_from_the_far_future_probes_now() {
        Breaker open = Breaker.parse("phase=OPEN\nsince=2126-01-01T00:00:00Z\nnextProbe=2126-01-01T00:00:10Z", NOW);
        assertThat(open.at(BreakerSettings.DEFAULT, NOW).phase()).isEqualTo(BreakerPhase.HALF_OPEN);
        Breaker ramp =
                Breaker.parse("phase=RAMPING\nrate=NaN\npermits=-Infinity\naccrued=-999999999-01-01T00:00:00Z", NOW);
        assertThat(ramp.at(BreakerSettings.DEFAULT, NOW).ramp().rate()).isFinite();
        RetryBudget budget = RetryBudget.parse("level=NaN\nat=+999999999-12-31T00:00:00Z", NOW);
        assertThat(budget.at(BudgetSettings.OF_ALL, NOW.plusSeconds(60)).level())
                .isPositive();
    }

    @Test
    void ids_and_cursors_are_read_or_refused() {
        InMemoryJobStore store = new InMemoryJobStore();
        Fuzz.texts(5_000, List.of("1", "123456789", "before-17"), text -> {
            try {
                JobId.parse(text);
            } catch (IllegalArgumentException e) {
                Fuzz.requireClear(e);
            }
            try {
                store.find(JobQuery.all().after(text));
            } catch (IllegalArgumentException e) {
                Fuzz.requireClear(e);
            }
        });
    }
}
