// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.control.BreakerPhase;
import io.reprise.insight.Explanation;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.Job;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerReport;
import io.reprise.server.config.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Says why jobs that wait in some queues do not run: the reasons of the queues and workers first, then those of the jobs
 * that were looked at.
 */
final class WaitingLine {

    /** Queues, types and resources that are named at most; further ones have fewer jobs. */
    private static final int NAMED = 5;

    /**
     * One reason.
     *
     * @param kind a reason of {@link Explanation}, or NotDue or Next
     * @param text the reason in words
     * @param subject what can be changed: queue, resource, type or worker; null for nothing
     * @param name the stored name of the subject
     * @param jobs jobs that were looked at and wait for this reason; null if it is one for all of a queue
     */
    record Reason(
            String kind,
            String text,
            @Nullable String subject,
            @Nullable String name,
            @Nullable Long jobs) {}

    private final Instant at;
    private final List<Job> waiting;
    private final List<QueueState> queues;
    private final List<WorkerReport> workers;
    private final List<ResourceStatus> resources;
    private final Function<Job, List<Explanation.Reason>> explained;
    private final List<Reason> reasons = new ArrayList<>();

    /**
     * Creates the line of these jobs.
     *
     * @param explained why a single job waits; none if it has ended
     */
    WaitingLine(
            Instant at,
            List<Job> waiting,
            List<QueueState> queues,
            List<WorkerReport> workers,
            List<ResourceStatus> resources,
            Function<Job, List<Explanation.Reason>> explained) {
        this.at = at;
        this.waiting = waiting;
        this.queues = queues;
        this.workers = workers;
        this.resources = resources;
        this.explained = explained;
    }

    /** Returns the reasons, the most important first. Empty if no job waits and nothing would hold one back. */
    List<Reason> reasons() {
        queues.forEach(this::queue);
        resources();
        budget();
        handlers();
        busy();
        if (reasons.stream().allMatch(reason -> reason.jobs != null)) {
            // Nothing holds all of them.
            limits();
        }
        later();
        if (reasons.isEmpty() && !waiting.isEmpty()) {
            reasons.add(new Reason("Next", "workers claim these jobs when they next look for work", null, null, null));
        }
        return reasons;
    }

    private void queue(QueueState queue) {
        QueueState.Pause pause = queue.paused();
        if (pause != null) {
            Explanation.Reason reason = new Explanation.QueuePaused(
                    queue.name(), pause.since(), pause.note().by(), pause.note().why());
            add(reason, "queue", queue.name(), null);
        }
        Integer limit = queue.maxRunning();
        long running = queue.count(JobState.RUNNING);
        if (limit != null && running >= limit) {
            add(
                    new Explanation.LimitReached(queue.name(), limit, Math.toIntExact(running)),
                    "queue",
                    queue.name(),
                    null);
        }
        if (workers.stream().noneMatch(worker -> worker.serves(queue.name()))) {
            add(new Explanation.NoWorker(queue.name()), "worker", null, null);
        }
    }

    private void resources() {
        Map<String, ResourceStatus> known =
                resources.stream().collect(Collectors.toMap(ResourceStatus::name, resource -> resource));
        most(job -> job.spec().resource()).forEach((name, jobs) -> {
            ResourceStatus resource = known.get(name);
            if (resource != null && resource.phase() != BreakerPhase.CLOSED) {
                Explanation.Reason reason = new Explanation.HeldByBreaker(
                        name,
                        resource.phase(),
                        Objects.requireNonNullElse(resource.since(), at),
                        resource.nextProbe(),
                        resource.why(),
                        resource.parked(),
                        resource.ramp());
                add(reason, "resource", name, jobs);
            }
        });
    }

    private void budget() {
        long jobs = waiting.stream()
                .filter(job -> job.status().waitReason() == WaitReason.BUDGET)
                .count();
        if (jobs > 0) {
            reasons.add(
                    new Reason("BudgetEmpty", count(jobs) + " held until a retry budget has credit", null, null, jobs));
        }
    }

    private void handlers() {
        most(Job::type).forEach((type, jobs) -> {
            String queue = waiting.stream()
                    .filter(job -> job.type().equals(type))
                    .map(Job::queue)
                    .findFirst()
                    .orElse("");
            List<WorkerReport> serving =
                    workers.stream().filter(worker -> worker.serves(queue)).toList();
            List<WorkerReport> able =
                    serving.stream().filter(worker -> worker.handles(type)).toList();
            if (!serving.isEmpty() && able.isEmpty()) {
                add(new Explanation.NoHandler(queue, type), "type", type, jobs);
            } else if (!able.isEmpty()
                    && able.stream().allMatch(worker -> worker.full().contains(type))) {
                long due = waiting.stream()
                        .filter(job -> job.type().equals(type) && !isLater(job))
                        .count();
                if (due > 0) {
                    add(new Explanation.TypeFull(type, able.size()), "type", type, due);
                }
            }
        });
    }

    /** Workers that are full are a reason only for jobs that are due. */
    private void busy() {
        List<WorkerReport> serving = workers.stream()
                .filter(worker -> queues.stream().anyMatch(queue -> worker.serves(queue.name())))
                .toList();
        boolean due = waiting.stream().anyMatch(job -> !isLater(job));
        if (due
                && !serving.isEmpty()
                && serving.stream().allMatch(worker -> worker.holding() >= worker.concurrency())) {
            add(new Explanation.WorkersBusy(serving.size()), "worker", null, null);
        }
    }

    /** Jobs with the same of these wait for the same limits. */
    private record Alike(
            String queue,
            @Nullable String group,
            String type,
            @Nullable String resource) {}

    /** Looks at one due job of each kind: the limits of groups and types, and the rates of queues and resources. */
    private void limits() {
        Map<Alike, List<Job>> alike = waiting.stream()
                .filter(job -> !isLater(job))
                .collect(Collectors.groupingBy(job -> new Alike(
                        job.queue(), job.spec().group(), job.type(), job.spec().resource())));
        Map<Explanation.Reason, Long> held = new LinkedHashMap<>();
        alike.values().stream()
                .sorted(Comparator.comparingInt((List<Job> jobs) -> -jobs.size()))
                .limit(NAMED)
                .forEach(jobs -> explained
                        .apply(jobs.get(jobs.size() - 1))
                        .forEach(reason -> held.merge(reason, (long) jobs.size(), Long::sum)));
        held.forEach((reason, jobs) -> {
            if (reason instanceof Explanation.FlowLimitReached limit) {
                add(reason, "queue", limit.queue(), jobs);
            } else if (reason instanceof Explanation.WaitsForGroup group) {
                add(reason, "queue", group.queue(), jobs);
            } else if (reason instanceof Explanation.HeldByBreaker breaker
                    && reasons.stream().noneMatch(known -> breaker.resource().equals(known.name))) {
                add(reason, "resource", breaker.resource(), jobs);
            }
        });
    }

    private boolean isLater(Job job) {
        Instant due = job.times().dueAt();
        return due != null && due.isAfter(at);
    }

    private void later() {
        List<Job> later = waiting.stream().filter(this::isLater).toList();
        later.stream()
                .map(job -> Objects.requireNonNullElse(job.times().dueAt(), at))
                .min(Comparator.naturalOrder())
                .ifPresent(first -> {
                    long seconds = Math.max(1, Duration.between(at, first).toSeconds());
                    reasons.add(new Reason(
                            "NotDue",
                            count(later.size()) + " not due yet, the first in "
                                    + Durations.text(Duration.ofSeconds(seconds)),
                            null,
                            null,
                            (long) later.size()));
                });
    }

    private static String count(long jobs) {
        return jobs == 1 ? "1 job is" : String.format(Locale.ROOT, "%,d jobs are", jobs);
    }

    private void add(Explanation.Reason reason, String subject, @Nullable String name, @Nullable Long jobs) {
        reasons.add(new Reason(reason.getClass().getSimpleName(), reason.text(at), subject, name, jobs));
    }

    /** Returns the names that most of the jobs have, with the number of jobs. */
    private Map<String, Long> most(Function<Job, @Nullable String> name) {
        Map<String, Long> counts = new TreeMap<>();
        for (Job job : waiting) {
            String each = name.apply(job);
            if (each != null) {
                counts.merge(each, 1L, Long::sum);
            }
        }
        return counts.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(NAMED)
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, Long::sum, LinkedHashMap::new));
    }
}
