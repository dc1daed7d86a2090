// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static io.reprise.failure.FailureClass.DEPENDENCY_DOWN;
import static io.reprise.failure.FailureClass.PERMANENT;
import static io.reprise.failure.FailureClass.THROTTLED;
import static io.reprise.failure.FailureClass.TRANSIENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.failure.Classification;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.failure.NonRetryable;
import io.reprise.failure.Rule;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.MalformedURLException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ClassifyTest {

    private static final class NeverAgain extends RuntimeException implements NonRetryable {
        private static final long serialVersionUID = 1L;
    }

    static Stream<Arguments> defaults() {
        return Stream.of(
                Arguments.of(new ConnectException("refused"), DEPENDENCY_DOWN, "unreachable"),
                Arguments.of(new UnknownHostException("db"), DEPENDENCY_DOWN, "unreachable"),
                Arguments.of(new SocketTimeoutException("read"), DEPENDENCY_DOWN, "call-timeout"),
                Arguments.of(new FileNotFoundException("x"), TRANSIENT, "io"),
                Arguments.of(new UncheckedIOException(new IOException("reset")), TRANSIENT, "io"),
                Arguments.of(
                        new IllegalArgumentException(new ConnectException("refused")), DEPENDENCY_DOWN, "unreachable"),
                Arguments.of(new MalformedURLException("x"), PERMANENT, "malformed"),
                Arguments.of(new NumberFormatException("x"), PERMANENT, "programming-error"),
                Arguments.of(new NullPointerException("x"), PERMANENT, "programming-error"),
                Arguments.of(new RuntimeException(new ClassCastException("x")), PERMANENT, "programming-error"),
                Arguments.of(new StackOverflowError(), PERMANENT, "programming-error"),
                Arguments.of(new AssertionError("x"), PERMANENT, "programming-error"),
                Arguments.of(new OutOfMemoryError("heap"), TRANSIENT, "out-of-memory"),
                Arguments.of(new NoClassDefFoundError("x"), TRANSIENT, "class-loading"),
                Arguments.of(new IllegalStateException("x"), TRANSIENT, "unclassified"),
                Arguments.of(new Exception("x"), TRANSIENT, "unclassified"));
    }

    @ParameterizedTest
    @MethodSource("defaults")
    void the_default_knows_common_exceptions(Throwable thrown, FailureClass expected, String rule) {
        assertThat(RetryPolicy.DEFAULT.classify(Failure.of(thrown))).isEqualTo(new Classification(expected, rule));
    }

    @ParameterizedTest
    @CsvSource({
        "400,PERMANENT", "401,PERMANENT", "403,PERMANENT", "404,PERMANENT", "405,PERMANENT", "410,PERMANENT",
        "422,PERMANENT", "408,TRANSIENT", "409,PERMANENT", "500,TRANSIENT", "429,THROTTLED", "502,DEPENDENCY_DOWN",
        "503,DEPENDENCY_DOWN", "504,DEPENDENCY_DOWN"
    })
    void the_default_knows_http_statuses(int status, FailureClass expected) {
        Failure failure = Failure.reported("HttpError", null, status, "no", null);
        assertThat(RetryPolicy.DEFAULT.classify(failure)).isEqualTo(new Classification(expected, "http-" + status));
    }

    @Test
    void given_beats_marker_beats_rules_beats_fallback() {
        RetryPolicy policy = RetryPolicy.unset().retryOn(RuntimeException.class);
        assertThat(policy.classify(Failure.of(THROTTLED, new NeverAgain())))
                .isEqualTo(new Classification(THROTTLED, "handler"));
        assertThat(policy.classify(Failure.of(new NeverAgain())))
                .isEqualTo(new Classification(PERMANENT, "non-retryable"));
        assertThat(policy.classify(Failure.of(new IllegalStateException())))
                .isEqualTo(new Classification(TRANSIENT, "retryOn:java.lang.RuntimeException"));
        assertThat(policy.classify(Failure.of(new Exception())))
                .isEqualTo(new Classification(PERMANENT, "unclassified"));
    }

    @Test
    void what_the_engine_saw_is_named_for_itself() {
        for (FailureClass seen : List.of(FailureClass.TIMEOUT, FailureClass.LOST, FailureClass.INTERRUPTED)) {
            Failure failure = Failure.of(seen, "io.reprise.Seen", "it happened");
            assertThat(RetryPolicy.DEFAULT.classify(failure).rule())
                    .isEqualTo(seen.name().toLowerCase(java.util.Locale.ROOT));
        }
    }

    @Test
    void types_match_subclasses_interfaces_and_causes() {
        RetryPolicy policy = RetryPolicy.unset().retryOn(IOException.class);
        assertThat(policy.classify(Failure.of(new FileNotFoundException())).failureClass())
                .isEqualTo(TRANSIENT);
        assertThat(policy.classify(Failure.of(new RuntimeException(new FileNotFoundException())))
                        .failureClass())
                .isEqualTo(TRANSIENT);
        Rule closeable = Rule.ofTypes("x", PERMANENT, NonRetryable.class.getName());
        assertThat(closeable.matches(Failure.of(new NeverAgain()))).isTrue();
    }

    @Test
    void never_is_asked_before_only_whatever_the_order_of_the_calls() {
        RetryPolicy policy = RetryPolicy.unset().retryOn(IOException.class).neverRetryOn(FileNotFoundException.class);
        assertThat(policy.classify(Failure.of(new FileNotFoundException())))
                .isEqualTo(new Classification(PERMANENT, "neverRetryOn:java.io.FileNotFoundException"));
        assertThat(policy.classify(Failure.of(new IOException())).failureClass())
                .isEqualTo(TRANSIENT);
    }

    @Test
    void only_means_only_even_on_top_of_the_default() {
        for (RetryPolicy policy : List.of(
                RetryPolicy.unset().retryOn(IllegalStateException.class),
                RetryPolicy.DEFAULT.retryOn(IllegalStateException.class),
                RetryPolicy.unset().retryOn(IllegalStateException.class).orElse(RetryPolicy.DEFAULT))) {
            assertThat(policy.classify(Failure.of(new IllegalStateException())).failureClass())
                    .isEqualTo(TRANSIENT);
            assertThat(policy.classify(Failure.of(new ConnectException())).failureClass())
                    .isEqualTo(PERMANENT);
        }
    }

    @Test
    void only_leaves_an_explicit_fallback_alone() {
        RetryPolicy policy = RetryPolicy.unset().unclassified(TRANSIENT).retryOn(IOException.class);
        assertThat(policy.classify(Failure.of(new Exception())).failureClass()).isEqualTo(TRANSIENT);
    }

    @Test
    void an_added_rule_overrules_the_default_ones() {
        Rule rule = Rule.ofTypes("mine", TRANSIENT, "java.lang.NullPointerException");
        for (RetryPolicy policy :
                List.of(RetryPolicy.DEFAULT.rule(rule), RetryPolicy.unset().rule(rule))) {
            assertThat(policy.classify(Failure.of(new NullPointerException())).rule())
                    .isEqualTo("mine");
            assertThat(policy.classify(Failure.of(new ClassCastException())).failureClass())
                    .isEqualTo(PERMANENT);
        }
        assertThat(RetryPolicy.DEFAULT.neverRetryOn(IOException.class).classify(Failure.of(new IOException())))
                .isEqualTo(new Classification(PERMANENT, "neverRetryOn:java.io.IOException"));
    }

    @Test
    void codes_statuses_and_messages_can_be_named() {
        RetryPolicy policy = RetryPolicy.unset()
                .retryOnCode("busy")
                .retryOnStatus(418)
                .retryOnMessage("try (again|later)")
                .neverRetryOnCode("gone")
                .neverRetryOnStatus(451)
                .neverRetryOnMessage("never");
        assertThat(rule(policy, "busy", 200, "")).isEqualTo("retryOn:code busy");
        assertThat(rule(policy, "x", 418, "")).isEqualTo("retryOn:status 418");
        assertThat(rule(policy, "x", 200, "Please TRY LATER.")).isEqualTo("retryOn:message try (again|later)");
        assertThat(rule(policy, "gone", 418, "")).isEqualTo("neverRetryOn:code gone");
        assertThat(rule(policy, "busy", 451, "")).isEqualTo("neverRetryOn:status 451");
        assertThat(rule(policy, "busy", 418, "Never!")).isEqualTo("neverRetryOn:message never");
    }

    @Test
    void a_pattern_that_never_ends_counts_as_no_match() {
        Rule rule = Rule.ofMessages("slow", TRANSIENT, "(a+)+b");
        assertThat(rule.matches(Failure.reported("E", null, null, "a".repeat(1999), null)))
                .isFalse();
    }

    @Test
    void bad_rules_are_refused() {
        refused("rule name", () -> Rule.ofCodes(" ", TRANSIENT, "a"));
        refused("class of rule r", () -> Rule.ofCodes("r", FailureClass.LOST, "a"));
        refused("number of items of rule r is 0", () -> Rule.ofCodes("r", TRANSIENT));
        refused("codes of rule r", () -> Rule.ofCodes("r", TRANSIENT, "x".repeat(501)));
        refused("statuses of rule r is 99 but must be 100 to 599", () -> Rule.ofStatuses("r", TRANSIENT, 99));
        refused("not a regular expression", () -> Rule.ofMessages("r", TRANSIENT, "(a"));
    }

    private static void refused(String words, org.assertj.core.api.ThrowableAssert.ThrowingCallable making) {
        assertThatIllegalArgumentException().isThrownBy(making).withMessageContaining(words);
    }

    private static String rule(RetryPolicy policy, String code, int status, String message) {
        return policy.classify(Failure.reported("E", code, status, message, null))
                .rule();
    }
}
