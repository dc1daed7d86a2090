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
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
            for (Kind kind : Kind.values()) {
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
            case NO_HANDLER -> throw new IllegalArgumentException("not measured by activity");
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
