// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.insight.Alert;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.CostEntry;
import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import io.reprise.store.ActivityQuery;
import io.reprise.store.InsightStore;
import io.reprise.store.WorkerCounts;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Statistics, workers and alerts. Guarded by the lock of the store. */
final class MemoryInsights {

    private static final Duration KEEP_SPENDING = Duration.ofDays(31);

    /** The part of a cause by which stores tell causes apart. */
    private record CauseKey(String type, @Nullable String resource, String error) {
        static CauseKey of(ErrorKey cause) {
            return new CauseKey(cause.type(), cause.resource(), cause.error());
        }
    }

    private record EvidenceKey(CauseKey cause, int attempt) {}

    private record SpendingKey(CauseKey cause, String unit) {}

    private record Counted(Activity.Subject subject, String name) {}

    private record AlertKey(Alert.Kind kind, String type) {}

    private record Seen(Evidence evidence, Instant at) {
        Evidence now(Instant now) {
            return evidence.aged(Duration.between(at, now));
        }
    }

    private record Present(WorkerState state, Instant until) {}

    private final Map<EvidenceKey, Seen> evidence = new LinkedHashMap<>();
    private final TreeMap<Instant, Map<SpendingKey, CostEntry>> spending = new TreeMap<>();
    private final Map<Activity.Step, TreeMap<Instant, Map<Counted, Activity>>> activity =
            new EnumMap<>(Activity.Step.class);
    private final TreeMap<String, Present> workers = new TreeMap<>();
    private final Map<AlertKey, Alert> alerts = new HashMap<>();
    private final Set<ControlEvent> changes = new LinkedHashSet<>();

    void addCounts(WorkerCounts workerCounts, Instant now) {
        workerCounts.evidence().forEach(each -> add(each, now));
        Map<SpendingKey, CostEntry> today = spending.computeIfAbsent(day(now), day -> new LinkedHashMap<>());
        workerCounts.spending().forEach(each -> add(today, each));
        for (Activity.Step step : Activity.Step.values()) {
            Map<Counted, Activity> period =
                    periods(step).computeIfAbsent(begin(step, now), key -> new LinkedHashMap<>());
            workerCounts.activity().forEach(each -> add(period, each, step.names()));
        }
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

    private static void add(Map<Counted, Activity> rows, Activity more, int most) {
        Counted key = new Counted(more.subject(), more.name());
        boolean full = !rows.containsKey(key)
                && rows.keySet().stream()
                                .filter(row -> row.subject == more.subject())
                                .count()
                        >= most;
        Counted at = full ? new Counted(more.subject(), Activity.REST) : key;
        rows.merge(at, more.of(at.name), Activity::plus);
    }

    private NavigableMap<Instant, Map<Counted, Activity>> periods(Activity.Step step) {
        return activity.computeIfAbsent(step, key -> new TreeMap<>());
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
        Instant last = begin(Activity.Step.MINUTE, now.minus(ago));
        Map<String, Activity> sums = new TreeMap<>();
        periods(Activity.Step.MINUTE)
                .subMap(last.minus(minutes, ChronoUnit.MINUTES), false, last, true)
                .values()
                .forEach(minute -> minute.forEach((key, row) -> {
                    if (key.subject == Activity.Subject.TYPE) {
                        sums.merge(key.name, row, Activity::plus);
                    }
                }));
        return List.copyOf(sums.values());
    }

    List<ActivityPeriod> activity(ActivityQuery query, Instant now) {
        List<ActivityPeriod> found = new ArrayList<>();
        Instant last = begin(query.step(), now);
        Instant before = last.minus(query.step().length().multipliedBy(query.periods()));
        periods(query.step()).subMap(before, false, last, true).forEach((at, rows) -> {
            TreeMap<String, Activity.Counts> sums = new TreeMap<>();
            rows.forEach((key, row) -> {
                if (key.subject == query.subject()
                        && (query.name() == null || query.name().equals(key.name))) {
                    String name = query.each() || query.name() != null ? key.name : "";
                    sums.merge(name, row.counts(), Activity.Counts::plus);
                }
            });
            sums.forEach((name, counts) -> found.add(new ActivityPeriod(at, name, counts)));
        });
        return found;
    }

    void addControlEvents(List<ControlEvent> events) {
        changes.addAll(events);
    }

    List<ControlEvent> controlEvents(String subject, int limit) {
        return changes.stream()
                .filter(event -> event.subject().equals(subject))
                .sorted(Comparator.comparing(ControlEvent::at).reversed())
                .limit(limit)
                .toList();
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
        activity.forEach((step, periods) ->
                periods.headMap(begin(step, now.minus(step.kept()))).clear());
        workers.values().removeIf(worker -> !worker.until.isAfter(now));
        changes.removeIf(event -> event.at().isBefore(now.minus(KEEP_SPENDING)));
        List<ControlEvent> oldest = changes.stream()
                .sorted(Comparator.comparing(ControlEvent::at))
                .limit(Math.max(0, changes.size() - InsightStore.MAX_CONTROL_EVENTS))
                .toList();
        oldest.forEach(changes::remove);
    }

    private static Instant day(Instant instant) {
        return instant.truncatedTo(ChronoUnit.DAYS);
    }

    private static Instant begin(Activity.Step step, Instant instant) {
        return instant.truncatedTo(step == Activity.Step.MINUTE ? ChronoUnit.MINUTES : ChronoUnit.HOURS);
    }
}
