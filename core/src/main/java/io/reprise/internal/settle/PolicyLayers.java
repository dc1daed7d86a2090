// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.Queue;
import io.reprise.Resource;
import io.reprise.failure.FailureClass;
import io.reprise.internal.control.LiveSettings;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.settings.QueueSettings;
import io.reprise.settings.ResourceSettings;
import io.reprise.settings.TypeSettings;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Joins the layers of retry policy field by field: job, then type, resource, queue, worker, default. In each layer but
 * the first, the fleet's settings come before those of the code. At enqueue the joined policy is stored with the job, so later changes of configuration leave the job alone. With {@code live} only
 * the job's own fields are stored, and the {@code Decider} looks up the rest when a run fails. The result is within the ceilings of the fleet, also for
 * jobs that were stored before a ceiling was set. Thread-safe.
 */
public final class PolicyLayers {

    private static final int MAX_ATTEMPTS = 1_000_000;

    private static final int MAX_BOUND = 1_000;

    /** The layers that differ from job to job. */
    private record Layers(
            RetryPolicy ofJob,
            String type,
            RetryPolicy ofType,
            @Nullable String resource,
            String queue,
            long changes) {}

    /** Most jobs share a few policies. Joining the layers for each job would cost more than storing the job. */
    private final Map<Layers, RetryPolicy> bound = new ConcurrentHashMap<>();

    private final Map<Layers, RetryPolicy> complete = new ConcurrentHashMap<>();

    private final Map<String, RetryPolicy> resources;
    private final Map<String, RetryPolicy> queues;
    private final RetryPolicy global;
    private final boolean live;
    private final LiveSettings settings;

    public PolicyLayers(
            Collection<Resource> resources,
            Collection<Queue> queues,
            RetryPolicy global,
            boolean live,
            LiveSettings settings) {
        this.settings = settings;
        this.resources = resources.stream().collect(Collectors.toMap(Resource::name, Resource::policy));
        this.queues = queues.stream().collect(Collectors.toMap(Queue::name, Queue::policy));
        this.global = global;
        this.live = live;
    }

    /** Returns the spec with the policy to store. */
    public JobSpec bind(JobSpec spec, RetryPolicy ofType) {
        RetryPolicy policy = cached(bound, layers(spec, ofType), this::bind);
        return spec.toBuilder().policy(policy).build();
    }

    private RetryPolicy bind(Layers layers) {
        RetryPolicy known = layered(layers);
        if (live) {
            // The store enforces deadlines, so the deadline is stored even with {@code live}.
            return known.deadline().toOptional().map(layers.ofJob::deadline).orElseGet(layers.ofJob::noDeadline);
        }
        // Stored too: otherwise later configuration would decide about failures that match no rule.
        return known.unclassified(known.unclassified().orElse(FailureClass.TRANSIENT));
    }

    /** Returns the complete policy of a claimed job, with the attempts that a person granted. */
    public RetryPolicy effective(Job job, RetryPolicy ofType) {
        return granted(job, cached(complete, layers(job.spec(), ofType), this::layered));
    }

    /** Returns the complete policy of a step: its own fields, then those of the job. */
    public RetryPolicy effective(Job job, RetryPolicy ofType, RetryPolicy ofStep) {
        return granted(job, ofStep.orElse(cached(complete, layers(job.spec(), ofType), this::layered)));
    }

    private static RetryPolicy granted(Job job, RetryPolicy policy) {
        int granted = job.counts().granted();
        return granted == 0
                ? policy
                : policy.maxAttempts()
                        .toOptional()
                        .map(limit -> policy.maxAttempts((int) Math.min((long) limit + granted, MAX_ATTEMPTS)))
                        .orElse(policy);
    }

    private Layers layers(JobSpec spec, RetryPolicy ofType) {
        return new Layers(
                spec.policy(), spec.type(), ofType, spec.resource(), Needs.base(spec.queue()), settings.changes());
    }

    private RetryPolicy ofResource(@Nullable String resource, FleetSettings fleet) {
        return resource == null
                ? RetryPolicy.unset()
                : fleet.resources()
                        .getOrDefault(resource, ResourceSettings.NONE)
                        .policy()
                        .orElse(resources.getOrDefault(resource, RetryPolicy.unset()));
    }

    private static RetryPolicy cached(
            Map<Layers, RetryPolicy> cache, Layers layers, Function<Layers, RetryPolicy> join) {
        if (cache.size() > MAX_BOUND) {
            cache.clear();
        }
        return cache.computeIfAbsent(layers, join);
    }

    private RetryPolicy layered(Layers layers) {
        FleetSettings fleet = settings.now();
        RetryPolicy asked = layers.ofJob
                .orElse(fleet.types()
                        .getOrDefault(layers.type, TypeSettings.NONE)
                        .policy())
                .orElse(layers.ofType)
                .orElse(ofResource(layers.resource, fleet))
                .orElse(fleet.queues()
                        .getOrDefault(layers.queue, QueueSettings.NONE)
                        .policy())
                .orElse(queues.getOrDefault(layers.queue, RetryPolicy.unset()))
                .orElse(fleet.defaults().policy())
                .orElse(global)
                .complete();
        return fleet.ceilings(layers.queue).applyTo(asked);
    }
}
