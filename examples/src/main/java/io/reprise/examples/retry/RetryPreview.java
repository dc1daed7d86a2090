// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.examples.Example;
import io.reprise.failure.Classification;
import io.reprise.failure.Failure;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;

/** Ask a policy what it would do, before any job has to find out. No store, no worker. */
public final class RetryPreview {

    private RetryPreview() {}

    public static void main(String[] args) {
        // snippet:preview
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(1))
                .cap(Duration.ofMinutes(1))
                .maxAttempts(10)
                .deadline(Duration.ofMinutes(3));
        RetryPlan plan = RetryPlan.of(policy, 9);
        for (RetryPlan.Step step : plan.steps()) {
            Example.say("retry %d: %s to %s, expected %s", step.retry(), step.min(), step.max(), step.mean());
        }
        plan.warnings().forEach(warning -> Example.say("%s: %s", warning.code(), warning.message()));
        // end
        Example.check(plan.steps().get(8).max().equals(Duration.ofMinutes(1)), "the cap is a cap");
        Example.check(has(plan, "deadline-before-worst-case"), "it warns that the last retries may never run");

        RetryPlan stampede = RetryPlan.of(policy.jitter(Jitter.none()), 9);
        Example.check(has(stampede, "no-jitter"), "it warns that jobs which fail together come back together");

        Failure failure = Failure.of(new IllegalStateException("wrapped", new ConnectException("refused")));
        Classification found = policy.classify(failure);
        Example.say("A wrapped ConnectException is %s by rule '%s'", found.failureClass(), found.rule());
        Example.check(found.rule().equals("unreachable"), "the cause chain is searched");

        RetryPolicy selective = policy.retryOn(IOException.class);
        RetryPolicy read = RetryPolicy.fromJson(selective.toJson());
        Example.check(read.toJson().equals(selective.toJson()), "a policy survives JSON, its predicates too");
    }

    private static boolean has(RetryPlan plan, String code) {
        return plan.warnings().stream().anyMatch(warning -> warning.code().equals(code));
    }
}
