// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.retry.Decision.Fail;
import io.reprise.retry.Decision.Retry;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The acceptance checks of the systems Reprise succeeds that are about arithmetic; the numbers are theirs. */
class SeedChecksTest {

    private final RandomGenerator random = new SplittableRandom(9);

    /** The bounds of check 1 are in {@link GoldenVectorsTest}. */
    @ParameterizedTest
    @CsvSource({
        "omniq,4",
        "omniq-claim-budget,3",
        "omniq-network,6",
        "omniq-database,3",
        "omniq-file,2",
        "omniq-linear,4",
        "stent,3",
        "stent-aggressive,10",
        "stent-batch,3",
        "stent-external-api,3",
        "weave,4",
        "weave-formula,4",
        "weave-doubling,4",
        "weave-code,4",
        "weave-conservative,6",
        "weave-aggressive,3",
        "one-shot,1",
        "mongo,11",
        "mongo-none,11",
        "mongo-decorrelated,11",
        "conduit,4",
        "conduit-service,4",
        "conduit-service-doc,4",
        "conduit-image,4",
        "conduit-webhook,4",
        "stent-selective,5",
        "stent-network,5",
        "default,20"
    })
    void check_1_a_preset_runs_a_failing_job_as_often_as_its_system(String preset, int executions) {
        Failure failure = Failure.of(new java.net.SocketException("connection reset"));
        int runs = 0;
        Duration last = null;
        while (true) {
            Decision decision =
                    Presets.get(preset).decide(failure, new AttemptHistory(runs, 0, Duration.ZERO, last), random);
            runs++;
            if (decision instanceof Fail fail) {
                assertThat(fail.reason()).isEqualTo(FailReason.EXHAUSTED);
                break;
            }
            last = ((Retry) decision).delay();
        }
        assertThat(runs).isEqualTo(executions);
    }

    @Test
    void check_8_retry_on_survives_a_restart() {
        RetryPolicy before =
                RetryPolicy.exponential().retryOn(IOException.class).neverRetryOn(FileNotFoundException.class);
        RetryPolicy after = RetryPolicy.fromJson(before.toJson());
        assertThat(after.classify(Failure.of(new java.net.SocketException())).failureClass())
                .isEqualTo(FailureClass.TRANSIENT);
        assertThat(after.classify(Failure.of(new FileNotFoundException())).failureClass())
                .isEqualTo(FailureClass.PERMANENT);
        assertThat(after.classify(Failure.of(new IllegalStateException())).failureClass())
                .isEqualTo(FailureClass.PERMANENT);
    }

    @Test
    void check_12_an_unknown_jitter_or_field_is_refused_with_a_clear_message() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fromJson("{\"jitter\":\"fulll\"}"))
                .withMessageContaining("jitter is \"fulll\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fromJson("{\"max_retries\":3}"))
                .withMessageContaining("no field \"max_retries\"; allowed:");
    }

    @Test
    void check_13_a_delay_at_the_cap_is_spread_and_never_above_it() {
        Duration cap = Duration.ofHours(1);
        for (Jitter jitter : new Jitter[] {Jitter.full(), Jitter.equal(), Jitter.proportional(0.2)}) {
            RetryPolicy policy = RetryPolicy.DEFAULT.jitter(jitter);
            Set<Duration> seen = new HashSet<>();
            for (int i = 0; i < 100_000; i++) {
                Duration delay = policy.delay(30, null, random);
                assertThat(delay).isLessThanOrEqualTo(cap);
                seen.add(delay);
            }
            assertThat(seen).hasSizeGreaterThan(99_900);
        }
    }

    @Test
    void check_14_no_retries_and_not_set_are_different() {
        RetryPolicy queue = RetryPolicy.unset().maxAttempts(7);
        assertThat(RetryPolicy.unset().maxRetries(0).orElse(queue).maxAttempts())
                .isEqualTo(Limit.of(1));
        assertThat(RetryPolicy.unset().orElse(queue).maxAttempts()).isEqualTo(Limit.of(7));
        assertThat(RetryPolicy.unset().unlimited().orElse(queue).maxAttempts()).isEqualTo(Limit.none());
        assertThat(RetryPolicy.fromJson("{\"maxAttempts\":1}")).isNotEqualTo(RetryPolicy.fromJson("{}"));
    }
}
