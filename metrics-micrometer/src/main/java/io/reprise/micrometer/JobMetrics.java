// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.reprise.JobListener;
import io.reprise.insight.Alert;
import io.reprise.insight.Behind;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.GroupBacklog;
import io.reprise.insight.JobEvent;
import io.reprise.insight.ResourceStatus;
import io.reprise.insight.StartLevel;
import io.reprise.job.JobId;
import io.reprise.job.QueueState;
import io.reprise.job.WorkerState;
import io.reprise.retry.Decision;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/**
 * A listener that counts the transitions of jobs that this process makes. Add the counters up over all processes for
 * the fleet.
 *
 * <pre>{@code
 * JobMetrics metrics = new JobMetrics(registry);
 * Reprise reprise = Reprise.builder().store(store).listener(metrics).handle(...).start();
 * }</pre>
 *
 * <p>The labels are {@code type}, {@code queue} and {@code resource}. Each shows the first 100 values, and
 * {@code other} for all that come later; a job without a resource has {@code none}. Thread-safe.
 *
 * @since 0.1.0
 */
public final class JobMetrics implements JobListener {

    private record Key(String type, String queue, String resource) {}

    private final MeterRegistry registry;
    private final Labels types = new Labels();
    private final Labels queues = new Labels();
    private final Labels resources = new Labels();
    private final Map<Key, MeterTarget> targets = new ConcurrentHashMap<>();
    private final Map<String, Amplification> amplifications = new ConcurrentHashMap<>();
    private final List<Reading<?>> readings = new CopyOnWriteArrayList<>();

    /** Creates a listener that registers its meters in this registry. Create one listener for a registry. */
    public JobMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    /**
     * Also shows breakers, budgets and parked jobs. They belong to the whole fleet: each process shows the same values,
     * so do not add them up. Call it once.
     *
     * @param source {@code reprise::resources}; called now, and then at most every 10 s when meters are collected
     * @return this listener
     */
    public JobMetrics resources(Supplier<? extends Collection<ResourceStatus>> source) {
        ResourceGauges gauges = new ResourceGauges(registry);
        return reading(
                new Reading<ResourceStatus>(registry, "resources", source, gauges::show),
                "reprise.resources",
                "Resources whose breaker or budget is not as new");
    }

    /**
     * Also shows the number of jobs of each queue by state, and how late the queue is. The values belong to the whole
     * fleet, so do not add them up. Call it once.
     *
     * @param source {@code reprise::queues}; called now, and then at most every 10 s when meters are collected
     * @return this listener
     */
    public JobMetrics queues(Supplier<? extends Collection<QueueState>> source) {
        return queues(source, List::of);
    }

    /**
     * Shows what {@link #queues(Supplier)} shows. The workers make {@code reprise.workers.wanted} exact: of short jobs a
     * worker claims many ahead, which the store counts as running though they wait for a thread. Call one of the two
     * methods once.
     *
     * @param source {@code reprise::queues}; called now, and then at most every 10 s when meters are collected
     * @param workers {@code reprise::workers}; called together with the other
     * @return this listener
     */
    public JobMetrics queues(
            Supplier<? extends Collection<QueueState>> source, Supplier<? extends Collection<WorkerState>> workers) {
        QueueGauges gauges = new QueueGauges(registry, workers);
        return reading(
                new Reading<QueueState>(registry, "queues", source, gauges::show),
                "reprise.queues",
                "Queues that have, or had, jobs or settings");
    }

    /**
     * Also shows how far each piece of the fleet's upkeep is behind, in rows and in seconds. The values belong to the
     * whole fleet, so do not add them up. Call it once.
     *
     * @param source {@code reprise::upkeep}; called now, and then at most every 10 s when meters are collected
     * @return this listener
     */
    public JobMetrics upkeep(Supplier<? extends Collection<Behind>> source) {
        UpkeepGauges gauges = new UpkeepGauges(registry);
        return reading(
                new Reading<Behind>(registry, "upkeep", source, gauges::show),
                "reprise.upkeep.pieces",
                "Pieces of upkeep that say how far they are behind");
    }

    /**
     * Also shows the groups with most jobs. At most 100 groups have labels. The values belong to the whole fleet, so do
     * not add them up. Call it once.
     *
     * @param source {@code reprise::topGroups}; called now, and then at most every 10 s when meters are collected
     * @return this listener
     */
    public JobMetrics groups(Supplier<? extends Collection<GroupBacklog>> source) {
        return reading(
                new Reading<GroupBacklog>(registry, "groups", source, new GroupGauges(registry)::groups),
                "reprise.groups",
                "Groups that are shown, those with most jobs");
    }

    /**
     * Also shows which share of jobs started in time, by queue and group, where a queue has a service level. At most 100
     * names have labels. The values belong to the whole fleet, so do not add them up. Call it once.
     *
     * @param source {@code () -> reprise.startLevels(2)}; called now, and then at most every 10 s when meters are
     *     collected
     * @return this listener
     */
    public JobMetrics starts(Supplier<? extends Collection<StartLevel>> source) {
        return reading(
                new Reading<StartLevel>(registry, "service levels", source, new GroupGauges(registry)::starts),
                "reprise.start.levels",
                "Queues and groups whose starts are measured");
    }

    private JobMetrics reading(Reading<?> reading, String meter, String description) {
        readings.add(reading);
        reading.register(meter, description);
        return this;
    }

    /**
     * Reads the values of the whole fleet again, if they are older than 10 s. Collecting meters does so too, but a
     * gauge that is new then shows only at the next collection.
     */
    public void refresh() {
        readings.forEach(Reading::look);
    }

    /** Counts the transition. */
    @Override
    public void onEvent(JobEvent event) {
        switch (event.kind()) {
            case SUCCEEDED -> {
                target(event).succeeded(event);
                amplification(event).attempt(event.attempt());
                amplification(event).succeeded(event.attempt());
            }
            case RETRY_SCHEDULED -> {
                target(event).retried(event);
                countAttempt(event);
            }
            case FAILED -> {
                target(event).failed(event);
                countAttempt(event);
            }
            case CANCELLED -> target(event).cancelled(event);
            case STARTED -> target(event).started(event);
            case ENQUEUED -> target(event).count("reprise.enqueued");
            case LOST -> target(event).count("reprise.lost");
            case STALE -> target(event).count("reprise.stale");
            case PARKED -> target(event).count("reprise.parkings");
            default -> {}
        }
    }

    /** Counts alerts that are raised, not those that are cleared. */
    @Override
    public void onAlert(Alert alert) {
        if (alert.isRaised()) {
            registry.counter("reprise.alerts", "kind", alert.kind().name(), "type", types.of(alert.type()))
                    .increment();
        }
    }

    /** Counts the failure. */
    @Override
    public void onFollowUpFailure(JobEvent.Kind kind, JobId job, Throwable failure) {
        registry.counter("reprise.followups.failed").increment();
    }

    /** Counts the failure. */
    @Override
    public void onAdvisorFailure(JobId job, Throwable failure) {
        registry.counter("reprise.advisor.failed").increment();
    }

    /** Counts the change. */
    @Override
    public void onControl(ControlEvent event) {
        registry.counter("reprise.control", "kind", event.kind().name(), "subject", subject(event))
                .increment();
    }

    private String subject(ControlEvent event) {
        return switch (event.kind()) {
            case QUEUE_BUDGET_EMPTIED -> queues.of(event.subject());
            case TYPE_BUDGET_EMPTIED -> types.of(event.subject());
            case BUDGET_EMPTIED -> event.subject();
            default -> resources.of(event.subject());
        };
    }

    private void countAttempt(JobEvent event) {
        Decision decision = event.decision();
        if (decision != null && decision.counts()) {
            amplification(event).attempt(event.attempt());
        }
    }

    private MeterTarget target(JobEvent event) {
        Key key = new Key(types.of(event.type()), queues.of(event.queue()), resources.of(event.resource()));
        return targets.computeIfAbsent(
                key, k -> new MeterTarget(registry, Tags.of("type", k.type, "queue", k.queue, "resource", k.resource)));
    }

    private Amplification amplification(JobEvent event) {
        return amplifications.computeIfAbsent(types.of(event.type()), type -> new Amplification(registry, type));
    }
}
