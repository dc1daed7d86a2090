// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobSpec;
import io.reprise.Queue;
import io.reprise.Resource;
import io.reprise.retry.FailureClass;
import io.reprise.retry.RetryPolicy;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The layers of retry policy: job over type over resource over queue over worker over default, field by field. What an enqueuer knows
 * of them is stored with the job, so that later changes of configuration leave it alone; under {@code live} only the
 * job's own fields are, and the rest is looked up when a run fails.
 */
public final class Policies {

    private static final int MAX_ATTEMPTS = 1_000_000;

    private static final int MAX_BOUND = 1_000;

    /** What differs from job to job. */
    private record Layers(
            RetryPolicy ofJob, RetryPolicy ofType, @Nullable String resource, String queue) {}

    /** Most jobs have one of a few policies; joining them anew for each would cost more than storing the job. */
    private final Map<Layers, RetryPolicy> bound = new ConcurrentHashMap<>();

    private final Map<String, RetryPolicy> resources;
    private final Map<String, RetryPolicy> queues;
    private final RetryPolicy global;
    private final boolean live;

    public Policies(Collection<Resource> resources, Collection<Queue> queues, RetryPolicy global, boolean live) {
        this.resources = resources.stream().collect(Collectors.toMap(Resource::name, Resource::policy));
        this.queues = queues.stream().collect(Collectors.toMap(Queue::name, Queue::policy));
        this.global = global;
        this.live = live;
    }

    /** The spec with the policy to store. */
    public JobSpec bind(JobSpec spec, RetryPolicy ofType) {
        if (bound.size() > MAX_BOUND) {
            bound.clear();
        }
        RetryPolicy policy =
                bound.computeIfAbsent(new Layers(spec.policy(), ofType, spec.resource(), spec.queue()), this::bind);
        return spec.toBuilder().policy(policy).build();
    }

    private RetryPolicy bind(Layers layers) {
        RetryPolicy known = layered(layers);
        if (live) {
            // The store itself sees to deadlines, so this one cannot wait until a run fails.
            return known.deadline().toOptional().map(layers.ofJob::deadline).orElseGet(layers.ofJob::noDeadline);
        }
        // Without it, what a failure that no rule knows becomes would still follow later configuration.
        return known.unclassified(known.unclassified().orElse(FailureClass.TRANSIENT));
    }

    /** The complete policy for a job that has been claimed. */
    RetryPolicy effective(Job job, RetryPolicy ofType) {
        RetryPolicy policy = layered(new Layers(job.policy(), ofType, job.spec().resource(), job.queue()));
        int granted = job.counts().granted();
        return granted == 0
                ? policy
                : policy.maxAttempts()
                        .toOptional()
                        .map(limit -> policy.maxAttempts(Math.min(limit + granted, MAX_ATTEMPTS)))
                        .orElse(policy);
    }

    private RetryPolicy ofResource(@Nullable String resource) {
        return resource == null ? RetryPolicy.unset() : resources.getOrDefault(resource, RetryPolicy.unset());
    }

    private RetryPolicy layered(Layers layers) {
        return layers.ofJob
                .orElse(layers.ofType)
                .orElse(ofResource(layers.resource))
                .orElse(queues.getOrDefault(layers.queue, RetryPolicy.unset()))
                .orElse(global)
                .complete();
    }
}
