// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobSpec;
import io.reprise.Queue;
import io.reprise.retry.FailureClass;
import io.reprise.retry.RetryPolicy;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The layers of retry policy: job over type over queue over worker over default, field by field. What an enqueuer knows
 * of them is stored with the job, so that later changes of configuration leave it alone; under {@code live} only the
 * job's own fields are, and the rest is looked up when a run fails.
 */
public final class Policies {

    private static final int MAX_ATTEMPTS = 1_000_000;

    private final Map<String, RetryPolicy> queues;
    private final RetryPolicy global;
    private final boolean live;

    public Policies(Collection<Queue> queues, RetryPolicy global, boolean live) {
        this.queues = queues.stream().collect(Collectors.toMap(Queue::name, Queue::policy));
        this.global = global;
        this.live = live;
    }

    /** The spec with the policy to store. */
    public JobSpec bind(JobSpec spec, RetryPolicy ofType) {
        if (live) {
            return spec;
        }
        RetryPolicy known = layered(spec, ofType);
        // Without it, what a failure that no rule knows becomes would still follow later configuration.
        FailureClass unclassified = known.unclassified().orElse(FailureClass.TRANSIENT);
        return spec.toBuilder().policy(known.unclassified(unclassified)).build();
    }

    /** The complete policy for a job that has been claimed. */
    RetryPolicy effective(Job job, RetryPolicy ofType) {
        RetryPolicy policy = layered(job.spec(), ofType);
        int granted = job.counts().granted();
        return granted == 0
                ? policy
                : policy.maxAttempts()
                        .toOptional()
                        .map(limit -> policy.maxAttempts(Math.min(limit + granted, MAX_ATTEMPTS)))
                        .orElse(policy);
    }

    private RetryPolicy layered(JobSpec spec, RetryPolicy ofType) {
        return spec.policy()
                .orElse(ofType)
                .orElse(queues.getOrDefault(spec.queue(), RetryPolicy.unset()))
                .orElse(global)
                .complete();
    }
}
