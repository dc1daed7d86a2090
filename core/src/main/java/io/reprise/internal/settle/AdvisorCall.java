// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.RetryAdvisor;
import io.reprise.RetryAdvisor.Advice;
import io.reprise.RetryAdvisor.Situation;
import io.reprise.failure.FailureClass;
import io.reprise.internal.engine.Driver;
import io.reprise.retry.AttemptHistory;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.text.Truncation;
import java.time.Duration;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks an advisor about one failure. Whatever the advisor does, there is a decision: the policy's, or the advisor's
 * within the attempts and the deadline of the policy.
 */
final class AdvisorCall {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final int MAX_RULE = 200;

    private final RetryAdvisor advisor;
    private final RetryPolicy policy;
    private final Situation situation;
    private final Events events;

    AdvisorCall(RetryAdvisor advisor, RetryPolicy policy, Situation situation, Events events) {
        this.advisor = advisor;
        this.policy = policy;
        this.situation = situation;
        this.events = events;
    }

    Advised ask(Driver driver) {
        try {
            Advice advice = driver.call(() -> advisor.advise(situation), PATIENCE);
            return advised(Objects.requireNonNull(advice, "The advisor returned null"));
        } catch (Throwable e) { // Even an Error: the advisor of a failure must not lose the failure.
            log.warn(
                    "The retry advisor failed on job {}; the decision of the policy stands",
                    situation.job().id(),
                    e);
            events.advisorFailed(situation.job().id(), e);
            return kept();
        }
    }

    private Advised kept() {
        return new Advised(situation.decided(), false);
    }

    private Advised advised(Advice advice) {
        Duration delay = Objects.requireNonNullElse(advice.delay(), Duration.ZERO);
        Decision decided = situation.decided();
        FailureClass kind = Objects.requireNonNullElse(decided.failureClass(), FailureClass.TRANSIENT);
        String rule = Truncation.cut("advisor, after " + decided.rule(), MAX_RULE);
        return switch (advice.kind()) {
            case KEEP -> kept();
            case CANCEL -> new Advised(null, true);
            case FAIL ->
                new Advised(new Decision.Fail(FailReason.PERMANENT, kind, rule, true, decided.prediction()), true);
            case SNOOZE -> inTime(delay) ? new Advised(new Decision.Snooze(delay, rule), true) : kept();
            case RETRY ->
                attemptsLeft() && inTime(delay)
                        ? new Advised(new Decision.Retry(delay, delay, again(kind), rule, decided.prediction()), true)
                        : kept();
        };
    }

    /** A retry of a failure that the policy calls permanent is charged like any other. */
    private static FailureClass again(FailureClass kind) {
        return kind == FailureClass.PERMANENT ? FailureClass.TRANSIENT : kind;
    }

    private boolean attemptsLeft() {
        AttemptHistory history = situation.history();
        return policy.maxAttempts()
                .toOptional()
                .map(limit -> history.attempts() < limit - 1)
                .orElse(true);
    }

    private boolean inTime(Duration delay) {
        return policy.deadline()
                .toOptional()
                .map(deadline -> situation.history().elapsed().plus(delay).compareTo(deadline) < 0)
                .orElse(true);
    }
}
