// SPDX-License-Identifier: Apache-2.0
package io.reprise.retry;

import io.reprise.failure.Classification;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.retry.Decision.Fail;
import io.reprise.retry.Decision.Release;
import io.reprise.retry.Decision.Retry;
import io.reprise.text.Truncation;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Turns one failure of one job into a decision under a complete policy. */
final class RetryDecider {

    private static final int MAX_RULE = 200;

    private final RetryPolicy policy;
    private final AttemptHistory history;
    private final @Nullable Prediction prediction;
    private final RandomGenerator random;

    RetryDecider(
            RetryPolicy complete, AttemptHistory history, @Nullable Prediction prediction, RandomGenerator random) {
        this.policy = complete;
        this.history = history;
        this.prediction = prediction;
        this.random = random;
    }

    Decision afterFailure(Failure failure) {
        Classification found = policy.classify(failure);
        Branch branch = branch(failure, found);
        if (branch == null) {
            return byClass(failure, found);
        }
        Classification named = named(failure, found, branch);
        if (branch.isNever()) {
            return fail(FailReason.PERMANENT, named);
        }
        Decision decision = new RetryDecider(branch.over(policy), history, prediction, random).byClass(failure, named);
        return branch.counts() || !(decision instanceof Retry retry)
                ? decision
                : new Release(retry.delay(), retry.failureClass(), retry.rule());
    }

    /** Returns the first branch that matches; null if there is none. What only the engine sees has no branch. */
    private @Nullable Branch branch(Failure failure, Classification found) {
        FailureClass seen = found.failureClass();
        if (!Branch.RETRIED.contains(seen) && seen != FailureClass.PERMANENT) {
            return null;
        }
        for (Branch branch : policy.branches()) {
            if (branch.matches(failure, found)) {
                return branch;
            }
        }
        return null;
    }

    /** Names the branch beside the rule. A branch for certain failures retries them although a rule would not. */
    private static Classification named(Failure failure, Classification found, Branch branch) {
        boolean byRule = failure.given() == null && !found.rule().equals(Classifier.MARKED);
        FailureClass kind = branch.isNever()
                ? FailureClass.PERMANENT
                : found.failureClass() == FailureClass.PERMANENT && byRule
                        ? FailureClass.TRANSIENT
                        : found.failureClass();
        return new Classification(kind, Truncation.cut(found.rule() + ", " + branch.name(), MAX_RULE));
    }

    private Decision byClass(Failure failure, Classification found) {
        return switch (found.failureClass()) {
            case INTERRUPTED -> new Release(Duration.ZERO, FailureClass.INTERRUPTED, found.rule());
            case UNREADABLE -> fail(FailReason.UNREADABLE, found);
            case PERMANENT -> fail(FailReason.PERMANENT, found);
            // The caller does not know whether the job ran alone. Assume it did, so that a poison job ends.
            case LOST -> afterLoss(true);
            case TIMEOUT ->
                policy.retryTimeouts().orElseThrow() ? retry(failure, found) : fail(FailReason.PERMANENT, found);
            case TRANSIENT, THROTTLED, DEPENDENCY_DOWN -> retry(failure, found);
        };
    }

    Decision afterLoss(boolean alone) {
        LossRule rule = policy.losses().orElseThrow();
        Classification lost = new Classification(FailureClass.LOST, "lost");
        // A rule of one loss says that a lost run must not be repeated, so it does not matter who caused the loss.
        if ((alone || rule.max() == 1) && history.losses() >= rule.max() - 1) {
            return new Fail(FailReason.QUARANTINED, FailureClass.LOST, lost.rule(), rule.counts());
        }
        if (rule.counts() && exhausted()) {
            return fail(FailReason.EXHAUSTED, lost);
        }
        Delay delay = new Delay(Duration.ZERO, Duration.ZERO);
        if (rule.backoff()) {
            delay = draw(rule.counts() ? history.attempts() : history.losses());
        }
        if (pastDeadline(delay.value())) {
            return new Fail(FailReason.DEADLINE, FailureClass.LOST, lost.rule(), rule.counts());
        }
        return rule.counts()
                ? new Retry(delay.raw(), delay.value(), FailureClass.LOST, lost.rule())
                : new Release(delay.value(), FailureClass.LOST, lost.rule());
    }

    private Decision retry(Failure failure, Classification found) {
        if (exhausted()) {
            return fail(FailReason.EXHAUSTED, found);
        }
        if (hopeless()) {
            return fail(FailReason.HOPELESS, found);
        }
        Delay drawn = draw(history.attempts());
        Duration delay = longer(drawn.value(), asked(failure.retryAfter()));
        return pastDeadline(delay)
                ? fail(FailReason.DEADLINE, found)
                : new Retry(drawn.raw(), delay, found.failureClass(), found.rule(), prediction);
    }

    private Decision fail(FailReason reason, Classification found) {
        return new Fail(reason, found.failureClass(), found.rule(), true, prediction);
    }

    private boolean hopeless() {
        return policy.giveUpBelow()
                .toOptional()
                .map(rule -> rule.isHopeless(prediction, random))
                .orElse(false);
    }

    private boolean exhausted() {
        return policy.maxAttempts()
                .toOptional()
                .map(max -> history.attempts() >= max - 1)
                .orElse(false);
    }

    private Delay draw(int before) {
        int retry = before == Integer.MAX_VALUE ? before : before + 1;
        return policy.draw(retry, history.lastDelay(), random);
    }

    private Duration asked(@Nullable Duration retryAfter) {
        Duration cap = policy.retryAfterCap().orElseThrow();
        Duration wait = retryAfter == null ? Duration.ZERO : retryAfter.compareTo(cap) < 0 ? retryAfter : cap;
        return Duration.ofNanos(Rounding.NONE.round(wait.toNanos()));
    }

    private boolean pastDeadline(Duration delay) {
        return policy.deadline()
                .toOptional()
                .map(deadline -> history.elapsed().plus(delay).compareTo(deadline) >= 0)
                .orElse(false);
    }

    private static Duration longer(Duration a, Duration b) {
        return a.compareTo(b) >= 0 ? a : b;
    }
}
