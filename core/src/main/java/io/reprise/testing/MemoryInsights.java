// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.insight.Activity;
import io.reprise.insight.Alert;
import io.reprise.insight.CostEntry;
import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import io.reprise.store.InsightStore;
import io.reprise.store.WorkerCounts;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Statistics, workers and alerts. Guarded by the lock of the store. */
final class MemoryInsights {

    private static final Duration KEEP_ACTIVITY = Duration.ofHours(3);
    private static final Duration KEEP_SPENDING = Duration.ofDays(31);

    /** The part of a cause by which stores tell causes apart. */
    private record CauseKey(String type, @Nullable String resource, String error) {
        static CauseKey of(ErrorKey cause) {
            return new CauseKey(cause.type(), cause.resource(), cause.error());
        }
    }

    private record EvidenceKey(CauseKey cause, int attempt) {}

    private record SpendingKey(CauseKey cause, String unit) {}

    private record AlertKey(Alert.Kind kind, String type) {}

    private record Seen(Evidence evidence, Instant at) {
        Evidence now(Instant now) {
            return evidence.aged(Duration.between(at, now));
        }
    }

    private record Present(WorkerState state, Instant until) {}

    private final Map<EvidenceKey, Seen> evidence = new LinkedHashMap<>();
    private final TreeMap<Instant, Map<SpendingKey, CostEntry>> spending = new TreeMap<>();
    private final TreeMap<Instant, Map<String, Activity>> activity = new TreeMap<>();
    private final TreeMap<String, Present> workers = new TreeMap<>();
    private final Map<AlertKey, Alert> alerts = new HashMap<>();

    void addCounts(WorkerCounts workerCounts, Instant now) {
        workerCounts.evidence().forEach(each -> add(each, now));
        Map<SpendingKey, CostEntry> today = spending.computeIfAbsent(day(now), day -> new LinkedHashMap<>());
        workerCounts.spending().forEach(each -> add(today, each));
        Map<String, Activity> minute = activity.computeIfAbsent(minute(now), key -> new LinkedHashMap<>());
        workerCounts.activity().forEach(each -> add(minute, each));
    }

    private void add(Evidence more, Instant now) {
        EvidenceKey key = new EvidenceKey(CauseKey.of(more.cause()), more.attempt());
        Evidence added = more;
        if (!evidence.containsKey(key) && evidence.size() >= InsightStore.MAX_EVIDENCE) {
            added = new Evidence(ErrorKey.REST, Evidence.LAST_ATTEMPT, more.tries(), more.successes());
            key = new EvidenceKey(CauseKey.of(ErrorKey.REST), Evidence.LAST_ATTEMPT);
        }
        evidence.merge(
                key, new Seen(added, now), (old, fresh) -> new Seen(old.now(now).plus(fresh.evidence), now));
    }

    private static void add(Map<SpendingKey, CostEntry> rows, CostEntry more) {
        SpendingKey key = new SpendingKey(CauseKey.of(more.cause()), more.unit());
        CostEntry added = more;
        if (!rows.containsKey(key) && rows.size() >= InsightStore.MAX_SPENDING) {
            added = more.of(ErrorKey.REST);
            key = new SpendingKey(CauseKey.of(ErrorKey.REST), more.unit());
        }
        rows.merge(key, added, CostEntry::plus);
    }

    private static void add(Map<String, Activity> rows, Activity more) {
        boolean full = !rows.containsKey(more.type()) && rows.size() >= InsightStore.MAX_ACTIVITY;
        String type = full ? Activity.REST : more.type();
        rows.merge(type, more.of(type), Activity::plus);
    }

    List<Evidence> evidence(Instant now) {
        return evidence.values().stream().map(seen -> seen.now(now)).toList();
    }

    List<CostEntry> spending(Duration age, Instant now) {
        Map<SpendingKey, CostEntry> sums = new LinkedHashMap<>();
        spending.tailMap(day(now.minus(age)))
                .values()
                .forEach(day -> day.forEach((key, row) -> sums.merge(key, row, CostEntry::plus)));
        return List.copyOf(sums.values());
    }

    List<Activity> activity(Duration ago, int minutes, Instant now) {
        Instant last = minute(now.minus(ago));
        Map<String, Activity> sums = new TreeMap<>();
        activity.subMap(last.minus(minutes, ChronoUnit.MINUTES), false, last, true)
                .values()
                .forEach(minute -> minute.forEach((type, row) -> sums.merge(type, row, Activity::plus)));
        return List.copyOf(sums.values());
    }

    void checkIn(WorkerReport report, Duration ttl, Instant now) {
        Present before = workers.get(report.name());
        Instant since = before == null || !before.until.isAfter(now) ? now : before.state.since();
        workers.put(report.name(), new Present(new WorkerState(report, since, now), now.plus(ttl)));
    }

    void checkOut(String worker) {
        workers.remove(worker);
    }

    List<WorkerState> workers(Instant now) {
        return workers.values().stream()
                .filter(worker -> worker.until.isAfter(now))
                .map(Present::state)
                .toList();
    }

    boolean raise(Alert alert) {
        return alerts.putIfAbsent(new AlertKey(alert.kind(), alert.type()), alert) == null;
    }

    boolean clear(Alert alert) {
        return alerts.remove(new AlertKey(alert.kind(), alert.type())) != null;
    }

    List<Alert> alerts() {
        List<Alert> all = new ArrayList<>(alerts.values());
        all.sort(Comparator.comparing((Alert alert) -> alert.kind().name()).thenComparing(Alert::type));
        return all;
    }

    void maintain(Instant now) {
        evidence.values().removeIf(seen -> seen.now(now).tries() < 0.5);
        spending.headMap(day(now.minus(KEEP_SPENDING))).clear();
        activity.headMap(minute(now.minus(KEEP_ACTIVITY))).clear();
        workers.values().removeIf(worker -> !worker.until.isAfter(now));
    }

    private static Instant day(Instant instant) {
        return instant.truncatedTo(ChronoUnit.DAYS);
    }

    private static Instant minute(Instant instant) {
        return instant.truncatedTo(ChronoUnit.MINUTES);
    }
}
