// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.actuate;

import io.reprise.Reprise;
import io.reprise.control.BreakerPhase;
import io.reprise.insight.DeadGroup;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.JobQuery;
import io.reprise.job.QueueState;
import io.reprise.job.WorkerState;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The state that Reprise shows, in maps, texts and numbers that every JSON library writes alike. */
record RepriseState(Reprise reprise) {

    private static final Duration STUCK = Duration.ofMinutes(2);
    private static final int GROUPS = 20;

    /** The parts of the engine that hang in one step; empty if all is well. */
    List<String> stuckParts() {
        return reprise.parts().entrySet().stream()
                .filter(part -> part.getValue().compareTo(STUCK) > 0)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Reads the store, and throws if that fails. */
    Map<String, Object> summary() {
        List<QueueState> queues = reprise.queues();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("worker", reprise.isWorking() ? "running" : "none");
        details.put("workers", reprise.workers().size());
        details.put("lagSeconds", lag(queues));
        details.put(
                "openBreakers",
                reprise.resources().stream()
                        .filter(resource -> resource.phase() != BreakerPhase.CLOSED)
                        .map(ResourceStatus::name)
                        .toList());
        return details;
    }

    private static long lag(List<QueueState> queues) {
        Instant now = Instant.now();
        return queues.stream()
                .map(QueueState::oldestDueAt)
                .filter(due -> due != null && due.isBefore(now))
                .mapToLong(due -> Duration.between(due, now).toSeconds())
                .max()
                .orElse(0);
    }

    Map<String, Object> everything() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("queues", reprise.queues().stream().map(RepriseState::queue).toList());
        all.put(
                "resources",
                reprise.resources().stream().map(RepriseState::resource).toList());
        all.put("workers", reprise.workers().stream().map(RepriseState::worker).toList());
        all.put(
                "deadLetters",
                reprise.deadGroups(JobQuery.all(), GROUPS).items().stream()
                        .map(RepriseState::group)
                        .toList());
        return all;
    }

    private static Map<String, Object> queue(QueueState queue) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("name", queue.name());
        shown.put("paused", queue.paused() != null);
        queue.counts().forEach((state, count) -> shown.put(state.name().toLowerCase(java.util.Locale.ROOT), count));
        shown.put("oldestDueAt", text(queue.oldestDueAt()));
        return shown;
    }

    private static Map<String, Object> resource(ResourceStatus resource) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("name", resource.name());
        shown.put("breaker", resource.phase().name());
        shown.put("why", resource.why());
        shown.put("parked", resource.parked());
        shown.put("budget", resource.budget().level());
        shown.put("nextProbe", text(resource.nextProbe()));
        return shown;
    }

    private static Map<String, Object> worker(WorkerState worker) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("name", worker.name());
        shown.put("concurrency", worker.report().concurrency());
        shown.put("holding", worker.report().holding());
        shown.put("seenAt", text(worker.seenAt()));
        return shown;
    }

    private static Map<String, Object> group(DeadGroup group) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("fingerprint", group.fingerprint());
        shown.put("count", group.count());
        shown.put("type", group.latest().type());
        shown.put("latest", group.latest().id().toString());
        shown.put("lastAt", text(group.lastAt()));
        return shown;
    }

    private static @Nullable String text(@Nullable Instant at) {
        return at == null ? null : at.toString();
    }
}
