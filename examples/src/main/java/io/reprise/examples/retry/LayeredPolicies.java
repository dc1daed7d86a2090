// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.retry;

import io.reprise.JobType;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.job.Job;
import io.reprise.retry.Jitter;
import io.reprise.retry.Limit;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.Optional;

/** A policy is put together field by field: job over type over queue over worker over default. */
public final class LayeredPolicies {

    // snippet:layers
    private static final JobType<String> CHARGE =
            JobType.of("charge", String.class).retry(RetryPolicy.unset().maxAttempts(7));
    private static final Queue PAYMENTS = Queue.of("payments")
            .retry(RetryPolicy.exponential(Duration.ofSeconds(10)).maxAttempts(3));
    private static final RetryPolicy WORKER =
            RetryPolicy.unset().cap(Duration.ofMinutes(5)).maxAttempts(2);
    // end

    private LayeredPolicies() {}

    public static void main(String[] args) {
        Job fixed = enqueue(false);
        RetryPolicy policy = fixed.policy();
        Example.say("Stored with the job: %s", policy.toJson());
        Example.check(policy.jitter().equals(Optional.of(Jitter.none())), "jitter comes from the job");
        Example.check(
                policy.maxAttempts().equals(Limit.of(7)), "attempts come from the type, the nearest that sets them");
        Example.check(
                policy.base().equals(Optional.of(Duration.ofSeconds(10))), "the first delay comes from the queue");
        Example.check(policy.cap().equals(Limit.of(Duration.ofMinutes(5))), "the cap comes from the worker");
        Example.check(policy.deadline().equals(Limit.of(Duration.ofHours(24))), "the deadline comes from the default");

        Job live = enqueue(true);
        Example.say("Stored with the job under livePolicies: %s", live.policy().toJson());
        Example.check(
                !live.policy().maxAttempts().isSet(), "only the job's own fields are stored; the rest is looked up");
    }

    private static Job enqueue(boolean live) {
        var builder = Reprise.builder().store(Example.store()).queues(PAYMENTS).retry(WORKER);
        try (Reprise reprise = live ? builder.livePolicies().start() : builder.start()) {
            var job = CHARGE.job("order 17")
                    .queue("payments")
                    .retry(RetryPolicy.unset().jitter(Jitter.none()));
            return reprise.find(reprise.enqueue(job)).orElseThrow();
        }
    }
}
