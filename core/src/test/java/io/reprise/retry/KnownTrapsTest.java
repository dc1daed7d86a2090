// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.failure.NonRetryable;
import io.reprise.retry.Decision.Fail;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bugs that other queues have had, as far as they concern retry arithmetic. */
class KnownTrapsTest {

    private static final class DoNotRepeat extends RuntimeException implements NonRetryable {
        private static final long serialVersionUID = 1L;
    }

    private final RandomGenerator random = new SplittableRandom(4);

    @Test
    void a_non_retryable_marker_is_not_hidden_by_a_wrapping_exception() {
        Throwable wrapped = new RuntimeException("proxy", new ExecutionException(new DoNotRepeat()));
        Decision decision = RetryPolicy.DEFAULT.decide(Failure.of(wrapped), AttemptHistory.FIRST, random);
        assertThat(decision).isEqualTo(new Fail(FailReason.PERMANENT, FailureClass.PERMANENT, "non-retryable", true));
    }

    @Test
    void jitter_then_cap_is_constant_at_the_cap_where_asked_for_and_not_by_default() {
        RetryPolicy asked = Presets.get("conduit");
        RetryPolicy usual = asked.capOrder(CapOrder.CAP_JITTER_CAP).rounding(Rounding.NONE);
        Set<Duration> constant = new HashSet<>();
        Set<Duration> spread = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            constant.add(asked.delay(9, null, random));
            spread.add(usual.delay(9, null, random));
        }
        assertThat(constant).containsExactly(Duration.ofHours(1));
        assertThat(spread).hasSizeGreaterThan(990);
    }

    @Test
    void zero_retries_is_not_confused_with_not_set() {
        RetryPolicy none = RetryPolicy.unset().maxRetries(0);
        assertThat(none.maxAttempts().isSet()).isTrue();
        assertThat(RetryPolicy.unset().maxAttempts().isSet()).isFalse();
        Failure failure = Failure.of(new IllegalStateException());
        assertThat(none.decide(failure, AttemptHistory.FIRST, random)).isInstanceOf(Fail.class);
        assertThat(RetryPolicy.unset().decide(failure, AttemptHistory.FIRST, random))
                .isInstanceOf(Decision.Retry.class);
    }

    @Test
    @Timeout(120)
    void an_oversized_exception_text_is_cut_and_still_grouped() {
        String huge = "x".repeat(20_000_000);
        Failure failure = Failure.of(new IllegalStateException(huge + " 1", new IllegalStateException(huge)));
        assertThat(failure.message()).hasSizeLessThanOrEqualTo(2_000).endsWith(" more characters)");
        assertThat(failure.trace()).hasSizeLessThanOrEqualTo(16_000).endsWith(" more characters)");
        assertThat(failure.fingerprint()).hasSize(16);
    }

    @Test
    @Timeout(60)
    void no_message_makes_the_fingerprint_slow() {
        for (String piece : new String[] {
            "a", "1", "/", "'", "\"", ":", "a:", "a.", "a@", "1.", "f", "-", "a/", "/a", "a-", "::", "[", "?,", "\\"
        }) {
            Failure failure = Failure.of(new IllegalStateException(piece.repeat(65_536 / piece.length())));
            assertThat(failure.fingerprint()).hasSize(16);
        }
    }

    @Test
    void a_job_that_kills_its_workers_comes_to_an_end() {
        Failure lost = Failure.of(FailureClass.LOST, "lease", "expired");
        int losses = 0;
        while (!(RetryPolicy.DEFAULT.decideLoss(lost, new AttemptHistory(0, losses, Duration.ZERO, null), true, random)
                instanceof Fail)) {
            losses++;
        }
        assertThat(losses + 1).isEqualTo(5);
    }
}
