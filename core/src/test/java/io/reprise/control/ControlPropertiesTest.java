// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.FailureClass;
import io.reprise.internal.control.Breaker;
import io.reprise.internal.control.CallCounts;
import io.reprise.internal.control.CallCounts.Counts;
import io.reprise.internal.control.RetryBudget;
import java.time.Instant;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds whatever happens, in whatever order, for as long as one likes. */
class ControlPropertiesTest {

    private static final BreakerSettings SETTINGS = BreakerSettings.DEFAULT;
    private static final BudgetSettings BUDGET = BudgetSettings.OF_RESOURCE;
    private static final Instant T0 = Instant.parse("2026-01-01T00:00:00Z");
    private static final int STEPS = 5_000;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void a_breaker_keeps_its_promises(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Breaker breaker = Breaker.closed(T0);
        Instant now = T0;
        for (int i = 0; i < STEPS; i++) {
            now = now.plusMillis(random.nextInt(3_000));
            Breaker next = step(breaker, now, random);
            check(breaker, next, now);
            breaker = next;
        }
    }

    private static Breaker step(Breaker breaker, Instant now, SplittableRandom random) {
        return switch (random.nextInt(6)) {
            case 0 -> breaker.at(SETTINGS, now);
            case 1 -> {
                Breaker later = breaker.at(SETTINGS, now);
                yield later.letThrough(later.permits());
            }
            case 2 -> breaker.drained(now);
            default -> breaker.after(addCounts(random), SETTINGS, now, random);
        };
    }

    private static CallCounts addCounts(SplittableRandom random) {
        boolean down = random.nextInt(3) == 0;
        Counts ordinary = counts(random, down);
        return new CallCounts(
                ordinary,
                counts(random, down),
                ordinary.successes() > 0 ? 0 : ordinary.failures(),
                random.nextInt(10) == 0 ? random.nextInt(50) : 0,
                0.01);
    }

    private static Counts counts(SplittableRandom random, boolean down) {
        int successes = down ? 0 : random.nextInt(50);
        return new Counts(
                successes,
                random.nextInt(down ? 50 : 3),
                random.nextInt(10) == 0 ? random.nextInt(5) : 0,
                random.nextInt(3),
                successes * 0.01,
                successes > 0 ? 0.01 : 0);
    }

    private static void check(Breaker before, Breaker after, Instant now) {
        assertThat(Breaker.parse(after.text(), now.minusSeconds(1))).isEqualTo(after);
        if (after.phase() == BreakerPhase.CLOSED || after.phase() == BreakerPhase.OPEN) {
            assertThat(after.permits()).isZero();
        }
        if (after.phase() == BreakerPhase.HALF_OPEN) {
            assertThat(after.permits() + after.waiting()).isBetween(0, SETTINGS.probes() + 3);
        }
        if (after.phase() == BreakerPhase.RAMPING) {
            assertThat(after.ramp().rate()).isGreaterThanOrEqualTo(1);
            assertThat((double) after.permits())
                    .isLessThanOrEqualTo(Math.max(1, after.ramp().pace()));
        }
        assertThat(after.interval()).isLessThanOrEqualTo(SETTINGS.longestProbe());
        if (before.phase() == BreakerPhase.OPEN) {
            assertThat(after.phase()).as("out of OPEN").isIn(BreakerPhase.OPEN, BreakerPhase.HALF_OPEN);
        }
        if (before.phase() == BreakerPhase.CLOSED) {
            assertThat(after.phase()).as("out of CLOSED").isNotEqualTo(BreakerPhase.HALF_OPEN);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void a_breaker_always_comes_back_when_the_resource_does(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Breaker breaker = Breaker.closed(T0);
        Instant now = T0;
        for (int i = 0; i < 200; i++) {
            now = now.plusMillis(random.nextInt(3_000));
            breaker = step(breaker, now, random);
        }
        for (int i = 0; i < 20_000 && breaker.phase() != BreakerPhase.CLOSED; i++) {
            now = now.plusMillis(100);
            breaker = breaker.at(SETTINGS, now);
            int through = breaker.permits();
            Counts good = new Counts(through, 0, 0, 0, through * 0.01, 0.01);
            breaker = breaker.letThrough(through)
                    .after(new CallCounts(Counts.NONE, good, 0, 0, 0), SETTINGS, now, random)
                    .drained(now);
        }
        assertThat(breaker.phase()).isEqualTo(BreakerPhase.CLOSED);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void failed_retries_are_bounded_by_successes_and_the_floor(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        RetryBudget budget = RetryBudget.full(BUDGET, T0);
        Instant now = T0;
        long granted = 0;
        long successes = 0;
        for (int i = 0; i < STEPS; i++) {
            now = now.plusMillis(random.nextInt(200));
            budget = budget.at(BUDGET, now);
            if (random.nextInt(4) == 0) {
                budget = budget.plus(RetryBudget.earned(false), BUDGET);
                successes++;
            } else if (budget.level() >= RetryBudget.cost(FailureClass.TRANSIENT)) {
                budget = budget.plus(-RetryBudget.cost(FailureClass.TRANSIENT), BUDGET);
                granted++;
            }
            double seconds = (now.toEpochMilli() - T0.toEpochMilli()) / 1e3;
            double most = BUDGET.capacity() / 14 + successes / 14.0 + seconds * BUDGET.floor();
            assertThat((double) granted).isLessThanOrEqualTo(most + 1e-6);
            assertThat(budget.level()).isBetween(-BUDGET.capacity(), BUDGET.capacity());
            assertThat(RetryBudget.parse(budget.text(), now.minusSeconds(1))).isEqualTo(budget);
        }
        assertThat(granted).isPositive();
    }
}
