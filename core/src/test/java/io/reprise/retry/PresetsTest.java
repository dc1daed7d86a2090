// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.text.JsonText;
import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PresetsTest {

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "omniq,               4, exponential 1 2 0,   60,   proportional:0.25, CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  true",
        "omniq-claim-budget,  3, exponential 1 2 0,   60,   proportional:0.25, CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  true",
        "omniq-unlimited,     0, exponential 1 2 0,   60,   proportional:0.25, CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  true",
        "omniq-linear,        4, linear 5,            300,  none,              CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  true",
        "omniq-network,       6, exponential 1 2 0,   60,   proportional:0.25, CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  true",
        "omniq-database,      3, exponential 1 2 0,   60,   proportional:0.25, CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  true",
        "omniq-file,          2, exponential 1 2 0,   60,   proportional:0.25, CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  true",
        "stent,               3, exponential 1 2 0,   60,   proportional:0.1,  CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, false, true",
        "stent-aggressive,   10, exponential .5 1.5 0, 30,  proportional:0.2,  CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, false, true",
        "stent-batch,         3, exponential 60 3 0,  3600, proportional:0.3,  CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, false, true",
        "stent-selective,     5, exponential 1 2 0,   60,   proportional:0.1,  CAP_THEN_JITTER, NONE,         "
                + " PERMANENT, false, true",
        "stent-network,       5, exponential .5 2 0,  60,   proportional:0.1,  CAP_THEN_JITTER, NONE,         "
                + " PERMANENT, false, true",
        "stent-external-api,  3, exponential 5 3 0,   60,   proportional:0.1,  CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, false, true",
        "weave,               4, table,               0,    full,              CAP_THEN_JITTER, MILLIS,       "
                + " TRANSIENT, true,  true",
        "weave-formula,       4, exponential .5 2 1,  30,   full,              CAP_THEN_JITTER, MILLIS,       "
                + " TRANSIENT, true,  true",
        "weave-doubling,      4, exponential .5 2 0,  30,   full,              CAP_THEN_JITTER, MILLIS,       "
                + " TRANSIENT, true,  true",
        "weave-code,          4, exponential .5 2 1,  30,   none,              CAP_THEN_JITTER, MILLIS,       "
                + " TRANSIENT, true,  true",
        "weave-conservative,  6, exponential 1 2 0,   60,   full,              CAP_THEN_JITTER, MILLIS,       "
                + " TRANSIENT, true,  true",
        "weave-aggressive,    3, exponential .1 2 0,  5,    full,              CAP_THEN_JITTER, MILLIS,       "
                + " TRANSIENT, true,  true",
        "mongo,              11, exponential 5 2 0,   1800, full,              CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  false",
        "mongo-none,         11, exponential 5 2 0,   1800, none,              CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  false",
        "mongo-decorrelated, 11, exponential 5 2 0,   1800, base-to-raw,       CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, true,  false",
        "conduit,             4, exponential 30 2 0,  3600, proportional:0.2,  JITTER_THEN_CAP, FLOOR_SECONDS,"
                + " PERMANENT, true,  true",
        "conduit-service,     4, exponential 30 2 0,  3600, proportional:0.2,  CAP_THEN_JITTER, NONE,         "
                + " PERMANENT, true,  true",
        "conduit-service-doc, 4, exponential 30 2 0,  0,    none,              CAP_THEN_JITTER, NONE,         "
                + " PERMANENT, true,  true",
        "conduit-image,       4, exponential 30 2 0,  3600, proportional:0.2,  CAP_THEN_JITTER, FLOOR_SECONDS,"
                + " PERMANENT, true,  true",
        "conduit-webhook,     4, exponential 1 2 1,   0,    none,              CAP_THEN_JITTER, NONE,         "
                + " TRANSIENT, false, true",
    })
    void a_preset_has_the_parameters_of_its_system(
            String name,
            int attempts,
            String backoff,
            int cap,
            String jitter,
            CapOrder order,
            Rounding rounding,
            FailureClass unclassified,
            boolean lossCounts,
            boolean lossWaits) {
        RetryPolicy policy = Presets.get(name);
        assertThat(policy.maxAttempts()).isEqualTo(attempts == 0 ? Limit.none() : Limit.of(attempts));
        assertThat(text(policy.backoff().orElseThrow())).isEqualTo(backoff);
        assertThat(policy.cap()).isEqualTo(cap == 0 ? Limit.none() : Limit.of(Duration.ofSeconds(cap)));
        assertThat(policy.jitter()).contains(Jitter.parse(jitter));
        assertThat(policy.capOrder()).contains(order);
        assertThat(policy.rounding()).contains(rounding);
        assertThat(policy.unclassified()).contains(unclassified);
        assertThat(policy.losses().orElseThrow().counts()).isEqualTo(lossCounts);
        assertThat(policy.losses().orElseThrow().backoff()).isEqualTo(lossWaits);
        assertThat(policy.deadline().isNone()).isTrue();
        assertThat(policy.complete()).as("nothing of the default shows through").isEqualTo(policy);
    }

    @Test
    void the_rest_of_the_presets() {
        assertThat(Presets.names())
                .hasSize(29)
                .startsWith("default", "one-shot", "omniq")
                .doesNotHaveDuplicates();
        assertThat(Presets.get("default")).isSameAs(RetryPolicy.DEFAULT);
        assertThat(RetryPolicy.preset("one-shot")).isEqualTo(RetryPolicy.none());
        assertThat(Presets.get("conduit-image").minDelay()).contains(Duration.ofSeconds(1));
        assertThat(Presets.names())
                .allSatisfy(name -> assertThat(Presets.describe(name)).isNotBlank());
    }

    @Test
    void the_raw_delays_of_stent_aggressive_are_exact() {
        RetryPolicy policy = Presets.get("stent-aggressive");
        assertThat(IntStream.rangeClosed(1, 9)
                        .mapToObj(retry -> policy.draw(retry, null, new SplittableRandom(1))
                                .raw())
                        .map(raw -> raw.toNanos() / 1e9))
                .containsExactly(.5, .75, 1.125, 1.6875, 2.53125, 3.796875, 5.6953125, 8.54296875, 12.814453125);
    }

    @Test
    void stent_selective_retries_network_timeout_and_io_only() {
        assertThat(classOf("stent-selective", new SocketException())).isEqualTo(FailureClass.TRANSIENT);
        assertThat(classOf("stent-selective", new TimeoutException())).isEqualTo(FailureClass.TRANSIENT);
        assertThat(classOf("stent-selective", new IOException())).isEqualTo(FailureClass.TRANSIENT);
        assertThat(classOf("stent-selective", new IllegalStateException())).isEqualTo(FailureClass.PERMANENT);
        assertThat(classOf("stent-network", new IOException())).isEqualTo(FailureClass.PERMANENT);
        assertThat(Presets.get("stent-selective")
                        .classify(Failure.reported("ConnectionError", null, null, "", null))
                        .failureClass())
                .isEqualTo(FailureClass.TRANSIENT);
    }

    @ParameterizedTest
    @CsvSource({
        "the request timed out,           TRANSIENT",
        "Connection reset by peer,        TRANSIENT",
        "Service Unavailable,             DEPENDENCY_DOWN",
        "TOO MANY REQUESTS,               THROTTLED",
        "rate limit hit,                  THROTTLED",
        "prompt is empty,                 PERMANENT",
    })
    void conduit_reads_messages_and_fails_what_it_does_not_know(String message, FailureClass expected) {
        assertThat(classOf("conduit", new IllegalStateException(message))).isEqualTo(expected);
    }

    @Test
    void conduit_fails_validation_and_authentication_whatever_the_message() {
        for (int status : new int[] {400, 401, 403, 422}) {
            Failure failure = Failure.reported("HttpError", null, status, "connection header invalid", null);
            assertThat(Presets.get("conduit").classify(failure).failureClass()).isEqualTo(FailureClass.PERMANENT);
        }
    }

    @Test
    void omniq_retries_what_the_default_would_not() {
        assertThat(classOf("omniq", new IllegalArgumentException())).isEqualTo(FailureClass.TRANSIENT);
    }

    @Test
    void an_unknown_name_is_refused_with_near_ones() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Presets.get("condiut"))
                .withMessage("no preset \"condiut\"; did you mean conduit?");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Presets.get("STENT"))
                .withMessageContaining("did you mean stent, stent-aggressive");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Presets.get("quartz"))
                .withMessageContaining("known: default, one-shot, omniq");
    }

    private static FailureClass classOf(String preset, Throwable thrown) {
        return Presets.get(preset).classify(Failure.of(thrown)).failureClass();
    }

    private static String text(Backoff backoff) {
        if (backoff instanceof Backoff.Exponential e) {
            return "exponential " + seconds(e.base()) + " " + JsonText.number(e.factor()) + " " + e.offset();
        }
        return backoff instanceof Backoff.Linear linear ? "linear " + seconds(linear.step()) : "table";
    }

    private static String seconds(Duration duration) {
        return JsonText.number(duration.toNanos() / 1e9).replaceFirst("^0\\.", ".");
    }
}
