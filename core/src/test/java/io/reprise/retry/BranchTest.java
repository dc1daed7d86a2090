// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import static io.reprise.failure.FailureClass.DEPENDENCY_DOWN;
import static io.reprise.failure.FailureClass.PERMANENT;
import static io.reprise.failure.FailureClass.THROTTLED;
import static io.reprise.failure.FailureClass.TRANSIENT;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.failure.NonRetryable;
import io.reprise.failure.Rule;
import io.reprise.retry.Decision.Fail;
import io.reprise.retry.Decision.Release;
import io.reprise.retry.Decision.Retry;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A policy that answers different failures in different ways. */
class BranchTest {

    private static final RetryPolicy POLICY = RetryPolicy.exponential(ofSeconds(1))
            .jitter(Jitter.none())
            .maxAttempts(3)
            .on(THROTTLED)
            .fixed(ofHours(2))
            .unlimited()
            .onStatus(502, 503)
            .exponential(ofSeconds(10))
            .cap(ofSeconds(15))
            .onCode("card_declined")
            .never()
            .onStatus(404)
            .fixed(ofSeconds(5))
            .deadlineShare(0.5)
            .onMessage("locked")
            .parkFor(ofMinutes(10))
            .policy();

    private final RandomGenerator random = new SplittableRandom(1);

    private Decision decide(Failure failure, int attempts, Duration elapsed) {
        return POLICY.decide(failure, new AttemptHistory(attempts, 0, elapsed, null), random);
    }

    private Decision decide(Failure failure, int attempts) {
        return decide(failure, attempts, Duration.ZERO);
    }

    private static Failure status(int status) {
        return Failure.reported("HttpError", null, status, "", null);
    }

    @Test
    void each_failure_has_its_own_curve() {
        assertThat(decide(status(429), 0))
                .isEqualTo(new Retry(ofHours(2), ofHours(2), THROTTLED, "http-429, on THROTTLED"));
        assertThat(decide(status(503), 0)).extracting("delay").isEqualTo(ofSeconds(10));
        assertThat(decide(status(503), 1)).extracting("delay").isEqualTo(ofSeconds(15));
        assertThat(decide(status(503), 1).failureClass()).as("the class stays").isEqualTo(DEPENDENCY_DOWN);
        assertThat(decide(status(500), 1)).extracting("delay").isEqualTo(ofSeconds(2));
    }

    @Test
    void each_failure_has_its_own_limit() {
        assertThat(decide(status(500), 2)).extracting("reason").isEqualTo(FailReason.EXHAUSTED);
        assertThat(decide(status(429), 1_000)).isInstanceOf(Retry.class);
        assertThat(decide(status(429), 2, ofHours(23))).extracting("reason").isEqualTo(FailReason.DEADLINE);
        assertThat(decide(Failure.reported("X", "card_declined", 503, "", null), 0))
                .as("503 is the earlier branch")
                .isInstanceOf(Retry.class);
        assertThat(decide(Failure.reported("X", "card_declined", null, "", null), 0))
                .isEqualTo(new Fail(FailReason.PERMANENT, PERMANENT, "unclassified, on code card_declined", true));
    }

    @Test
    void a_branch_for_certain_failures_retries_what_a_rule_calls_permanent() {
        assertThat(decide(status(404), 0)).isEqualTo(new Retry(ofSeconds(5), ofSeconds(5), TRANSIENT, rule404()));
        assertThat(decide(status(404), 0, ofHours(12))).extracting("reason").isEqualTo(FailReason.DEADLINE);
        assertThat(decide(status(404).withGiven(PERMANENT), 0))
                .extracting("reason")
                .isEqualTo(FailReason.PERMANENT);
        assertThat(decide(Failure.of(new Final("locked")), 0))
                .extracting("reason")
                .isEqualTo(FailReason.PERMANENT);
    }

    private static String rule404() {
        return POLICY.classify(status(404)).rule() + ", on status 404";
    }

    private static final class Final extends RuntimeException implements NonRetryable {
        private static final long serialVersionUID = 1L;

        Final(String message) {
            super(message);
        }
    }

    @Test
    void a_parked_failure_spends_nothing() {
        Decision decision = decide(Failure.reported("X", null, null, "row is locked", null), 1);
        assertThat(decision).isEqualTo(new Release(ofMinutes(10), TRANSIENT, "unclassified, on message locked"));
        assertThat(decision.counts()).isFalse();
    }

    @Test
    void branches_survive_json_and_layers() {
        String json = "{\"branches\":[{\"on\":{\"classes\":[\"THROTTLED\"]},\"backoff\":\"fixed\",\"base\":\"PT1M\","
                + "\"maxAttempts\":null},{\"on\":{\"statuses\":[502]},\"cap\":\"PT5S\",\"deadlineShare\":0.5},"
                + "{\"on\":{\"types\":[\"Busy\"]},\"counts\":false},{\"on\":{\"codes\":[\"no\"]},\"never\":true}]}";
        RetryPolicy policy = RetryPolicy.unset()
                .on(THROTTLED)
                .fixed(ofMinutes(1))
                .unlimited()
                .onStatus(502)
                .cap(ofSeconds(5))
                .deadlineShare(0.5)
                .onType("Busy")
                .uncounted()
                .onCode("no")
                .never()
                .policy();
        assertThat(policy.toJson()).isEqualTo(json);
        assertThat(RetryPolicy.fromJson(json)).isEqualTo(policy);
        assertThat(RetryPolicy.fromJson(POLICY.toJson())).isEqualTo(POLICY);
        assertThat(POLICY.orElse(policy).complete().branches()).hasSize(9);
        assertThat(RetryPolicy.unset().orElse(policy).branches()).isEqualTo(policy.branches());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'on':{'classes':['BUSY']}} | BUSY",
                "{'on':{'classes':['LOST']}} | one of TRANSIENT, THROTTLED",
                "{'on':{}} | either classes, or types",
                "{'on':{'classes':['THROTTLED'],'codes':['a']}} | either classes, or types",
                "{'base':'1s'} | needs the field \"on\"",
                "{'on':{'codes':['a']},'backoff':'exponential'} | needs the field \"base\"",
                "{'on':{'codes':['a']},'backoff':'linear'} | needs the field \"base\"",
                "{'on':{'codes':['a']},'backoff':'fixed'} | needs the field \"base\"",
                "{'on':{'codes':['a']},'deadlineShare':0} | more than 0, up to 1",
                "{'on':{'codes':['a']},'deadlineShare':1.5} | 1.5",
                "{'on':{'codes':['a']},'never':true,'base':'1s'} | nothing else",
                "{'on':{'codes':['a']},'deadline':'1h'} | no field \"deadline\"",
                "{'on':{'statuses':[99]}} | 100 to 599",
            })
    void a_bad_branch_is_refused_by_name(String branch, String message) {
        String json = "{\"branches\":[" + branch.replace('\'', '"') + "]}";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RetryPolicy.fromJson(json))
                .withMessageContaining(message);
    }

    @Test
    void a_preview_shows_each_branch() {
        RetryPlan plan = RetryPlan.of(POLICY, 2);
        assertThat(plan.branches())
                .extracting(each -> each.branch().name())
                .containsExactly(
                        "on THROTTLED",
                        "on status 502, status 503",
                        "on code card_declined",
                        "on status 404",
                        "on message locked");
        assertThat(plan.branches().get(0).maxAttempts()).isNull();
        assertThat(plan.branches().get(1).steps())
                .extracting(RetryPlan.Step::max)
                .containsExactly(ofSeconds(10), ofSeconds(15));
        assertThat(plan.branches().get(2).steps()).isEmpty();
        assertThat(plan.warnings()).extracting(RetryPlan.Warning::code).containsExactly("no-jitter");
    }

    @Test
    void branches_and_rules_that_never_decide_are_named() {
        assertThat(codes(RetryPolicy.unset()
                        .on(THROTTLED)
                        .uncounted()
                        .on(THROTTLED)
                        .never()
                        .policy()))
                .containsExactly("branch-shadowed");
        assertThat(codes(RetryPolicy.unset()
                        .on(DEPENDENCY_DOWN)
                        .uncounted()
                        .onStatus(503)
                        .never()
                        .policy()))
                .containsExactly("branch-shadowed");
        assertThat(codes(RetryPolicy.unset()
                        .onStatus(503)
                        .never()
                        .on(DEPENDENCY_DOWN)
                        .uncounted()
                        .policy()))
                .isEmpty();
        assertThat(codes(RetryPolicy.unset().retryOn("A").on(THROTTLED).never().policy()))
                .containsExactly("branch-unreachable");
        assertThat(codes(RetryPolicy.unset()
                        .retryTimeouts(false)
                        .on(FailureClass.TIMEOUT)
                        .never()
                        .policy()))
                .containsExactly("branch-unreachable");
        assertThat(codes(RetryPolicy.unset()
                        .noDeadline()
                        .on(THROTTLED)
                        .uncounted()
                        .policy()))
                .containsExactly("uncounted-without-deadline");
        assertThat(codes(RetryPolicy.unset()
                        .rule(Rule.ofCodes("one", TRANSIENT, "a", "b"))
                        .rule(Rule.ofCodes("two", PERMANENT, "b"))))
                .containsExactly("rule-shadowed");
    }

    private static List<String> codes(RetryPolicy policy) {
        return RetryPlan.of(policy, 0).warnings().stream()
                .map(RetryPlan.Warning::code)
                .toList();
    }
}
