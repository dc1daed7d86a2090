// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.insight.Activity;
import io.reprise.insight.Alert;
import io.reprise.insight.Alert.Kind;
import io.reprise.insight.AlertRules;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.run.UnhandledTypes;
import io.reprise.internal.settle.Events;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.WorkerState;
import io.reprise.store.ActivityQuery;
import io.reprise.store.DueQueues;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Compares the activity that the fleet has counted with the alert rules. The {@code Sweeper} of the leader calls it.
 * Raised alerts are stored, so a new leader does not raise an alert a second time.
 */
public final class AlertWatch {

    private static final Duration INTERVAL = Duration.ofSeconds(10);
    private static final int HOUR = 60;

    /** The mean backoff of fewer retries than this is not judged. */
    private static final int FEW = 5;

    /** Queues that one look passes. */
    private static final int QUEUES = 500;

    /** Kinds whose subject is a queue. */
    private static final Set<Kind> OF_QUEUES = Set.of(Kind.LATE_STARTS, Kind.NO_OFFER);

    private static final List<Kind> OF_TYPES = Arrays.stream(Kind.values())
            .filter(kind -> !OF_QUEUES.contains(kind))
            .toList();

    private record Key(Kind kind, String type) {}

    /** A measured value and the limit above which the alert is raised. */
    private record Measure(double value, double threshold) {}

    private final JobStore store;
    private final AlertRules own;
    private final LiveSettings live;
    private AlertRules rules;
    private final Events events;
    private final StoreClock clock;
    private final Driver driver;
    private long nextLookNanos;
    private String lookedUpTo = "";

    public AlertWatch(EngineParts parts, AlertRules rules) {
        this.store = parts.store();
        this.own = rules;
        this.rules = rules;
        this.live = parts.live();
        this.events = parts.events();
        this.clock = parts.clock();
        this.driver = parts.driver();
        this.nextLookNanos = driver.nanos();
    }

    /** Judges all types once per {@code INTERVAL}. Returns false if it is too early. */
    boolean look() {
        if (driver.nanos() - nextLookNanos < 0) {
            return false;
        }
        nextLookNanos = driver.nanos() + INTERVAL.toNanos();
        AlertRules told = live.now().defaults().alerts();
        rules = told == null ? own : told;
        Map<Key, Alert> raised = new HashMap<>();
        store.alerts().forEach(alert -> raised.put(new Key(alert.kind(), alert.type()), alert));
        Map<String, Activity> recent = byType(store.activity(Duration.ZERO, rules.windowMinutes()));
        judgeStarts(raised);
        judgeOffers(raised);
        raised.keySet().removeIf(key -> OF_QUEUES.contains(key.kind));
        Map<String, Integer> unhandled = unhandled();
        if (recent.isEmpty() && raised.isEmpty() && unhandled.isEmpty()) {
            return true;
        }
        // The window includes the minute that has just begun. A raised alert is judged over one more minute: otherwise
        // it would clear each time an empty minute replaces a full one.
        Map<String, Activity> longer =
                raised.isEmpty() ? recent : byType(store.activity(Duration.ZERO, rules.windowMinutes() + 1));
        Map<String, Activity> before = byType(store.activity(Duration.ofMinutes(rules.windowMinutes()), HOUR));
        Set<String> types = new TreeSet<>(recent.keySet());
        raised.keySet().forEach(key -> types.add(key.type));
        types.addAll(unhandled.keySet());
        for (String type : types) {
            for (Kind kind : OF_TYPES) {
                Alert alert = raised.get(new Key(kind, type));
                Activity now = (alert == null ? recent : longer).get(type);
                judge(
                        kind,
                        type,
                        alert,
                        kind == Kind.NO_HANDLER
                                ? new Measure(unhandled.getOrDefault(type, 0), 0)
                                : measure(kind, now, before.get(type), alert != null));
            }
        }
        return true;
    }

    /** Judges the service levels of queues. */
    private void judgeStarts(Map<Key, Alert> raised) {
        Map<String, Activity.Counts> starts = new TreeMap<>();
        store.activity(ActivityQuery.each(Activity.Subject.START, Activity.Step.MINUTE, rules.windowMinutes()))
                .forEach(row -> starts.merge(row.name(), row.counts(), Activity.Counts::plus));
        raised.keySet().stream()
                .filter(key -> key.kind == Kind.LATE_STARTS)
                .forEach(key -> starts.putIfAbsent(key.type, Activity.Counts.NONE));
        starts.forEach((queue, counts) -> {
            Alert alert = raised.get(new Key(Kind.LATE_STARTS, queue));
            double enough = alert == null ? rules.minJobs() : rules.minJobs() * AlertRules.CLEAR_AT;
            double late = counts.jobs() < enough ? 0 : (double) counts.failed() / counts.jobs();
            judge(Kind.LATE_STARTS, queue, alert, new Measure(late, AlertRules.LATE_STARTS));
        });
    }

    /** Judges whether somebody offers what due jobs need. Looks at some hundred queues each time, in turn. */
    private void judgeOffers(Map<Key, Alert> raised) {
        DueQueues page = store.dueQueues(lookedUpTo, DueQueues.END, QUEUES);
        String last = page.last();
        Set<String> lacking = new TreeSet<>();
        page.queues().stream().filter(queue -> !Needs.of(queue).isEmpty()).forEach(lacking::add);
        if (!lacking.isEmpty()) {
            List<WorkerState> workers = store.workers();
            lacking.removeIf(
                    queue -> workers.stream().anyMatch(worker -> worker.report().serves(queue)));
        }
        for (String queue : lacking) {
            judge(Kind.NO_OFFER, queue, raised.get(new Key(Kind.NO_OFFER, queue)), new Measure(1, 0));
        }
        raised.forEach((key, alert) -> {
            boolean looked = key.type.compareTo(lookedUpTo) > 0 && (last == null || key.type.compareTo(last) <= 0);
            if (key.kind == Kind.NO_OFFER && looked && !lacking.contains(key.type)) {
                judge(Kind.NO_OFFER, key.type, alert, new Measure(0, 0));
            }
        });
        lookedUpTo = last == null ? "" : last;
    }

    /** Counts by type the queues in which jobs are parked because no worker handles that type. */
    private Map<String, Integer> unhandled() {
        Map<String, Integer> queues = new HashMap<>();
        store.parkedBy().stream()
                .filter(UnhandledTypes::isName)
                .forEach(name -> queues.merge(UnhandledTypes.type(name), 1, Integer::sum));
        return queues;
    }

    private void judge(Kind kind, String type, @Nullable Alert alert, Measure measure) {
        if (alert == null) {
            if (measure.value > measure.threshold) {
                Alert fresh = new Alert(kind, type, measure.value, measure.threshold, clock.now(), null);
                if (store.raise(fresh)) {
                    events.alert(fresh);
                }
            }
        } else if (measure.value <= alert.threshold() * AlertRules.CLEAR_AT && store.clear(alert)) {
            events.alert(new Alert(kind, type, measure.value, alert.threshold(), alert.since(), clock.now()));
        }
    }

    private Measure measure(Kind kind, @Nullable Activity recent, @Nullable Activity before, boolean raised) {
        Activity.Counts now = recent == null ? Activity.Counts.NONE : recent.counts();
        return switch (kind) {
            case RETRY_RATE -> {
                // A raised alert needs fewer jobs to stay raised. Otherwise a job count near the minimum would
                // raise and clear it by turns.
                double enough = raised ? rules.minJobs() * AlertRules.CLEAR_AT : rules.minJobs();
                yield new Measure(now.jobs() < enough ? 0 : (double) now.retried() / now.jobs(), rules.retryRate());
            }
            case RETRY_COUNT -> new Measure(now.retries(), rules.retryCount());
            case DEAD_LETTERS -> {
                double usual = before == null ? 0 : (double) before.counts().dead() * rules.windowMinutes() / HOUR;
                yield new Measure(now.dead(), Math.max(rules.deadLetters(), AlertRules.SPIKE * usual));
            }
            case NO_HANDLER, LATE_STARTS, NO_OFFER -> throw new IllegalArgumentException("not measured by activity");
            case BACKOFF -> {
                double mean = now.retries() < FEW ? 0 : now.backoff().toMillis() / 1e3 / now.retries();
                yield new Measure(mean, rules.backoff().toMillis() / 1e3);
            }
        };
    }

    private static Map<String, Activity> byType(List<Activity> activity) {
        Map<String, Activity> types = new HashMap<>();
        activity.forEach(each -> types.put(each.name(), each));
        return types;
    }
}
