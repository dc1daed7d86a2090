// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlKey;
import io.reprise.control.ForcedBy;
import io.reprise.insight.ResourceStatus;
import io.reprise.internal.control.CallCounts.Counts;
import io.reprise.internal.settle.Events;
import io.reprise.job.AuditNote;
import io.reprise.job.RepriseException;
import io.reprise.store.JobStore;
import java.math.BigDecimal;
import java.math.MathContext;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Lets people view breakers and budgets, and force a breaker open or closed. {@code Reprise}, {@code Operations} and
 * {@code Explainer} call it in the caller's thread; it reads the store each time. Thread-safe.
 */
public final class ControlOperations {

    private final JobStore store;
    private final ControlConfig rules;
    private final Events events;

    public ControlOperations(JobStore store, ControlConfig rules, Events events) {
        this.store = store;
        this.rules = rules;
        this.events = events;
    }

    /** Returns every resource that has settings, control state or parked jobs. */
    public List<ResourceStatus> resources() {
        Instant now = store.now();
        FleetControl shared = read();
        Map<String, Long> parked = store.parked();
        Set<String> names = new TreeSet<>(rules.resources());
        names.addAll(shared.breakers().keySet());
        shared.budgets().keySet().forEach(key -> addResource(key, names));
        parked.keySet().forEach(name -> ControlKey.parse(name).ifPresent(key -> addResource(key, names)));
        List<ResourceStatus> all = new ArrayList<>();
        names.forEach(name -> all.add(status(name, shared, parked, now)));
        return all;
    }

    private static void addResource(ControlKey key, Set<String> names) {
        if (key.kind() == ControlKey.Kind.BREAKER || key.kind() == ControlKey.Kind.RESOURCE_BUDGET) {
            names.add(key.subject());
        }
    }

    private ResourceStatus status(String name, FleetControl shared, Map<String, Long> parked, Instant now) {
        Breaker known = shared.breakers().get(name);
        Breaker breaker = known == null ? Breaker.closed(now) : known;
        ControlKey budgetKey = ControlKey.budgetOfResource(name);
        BudgetSettings settings = rules.budget(budgetKey);
        RetryBudget budget = shared.budgets().getOrDefault(budgetKey, RetryBudget.full(settings, now));
        boolean probes = breaker.phase() == BreakerPhase.OPEN && breaker.force() == null;
        long held = parked.getOrDefault(ControlKey.breaker(name).text(), 0L);
        long waiting = parked.getOrDefault(budgetKey.text(), 0L);
        boolean limited = breaker.isAtItsRate(rules.breaker(name));
        return new ResourceStatus(
                name,
                limited ? BreakerPhase.CLOSED : breaker.phase(),
                limited ? limit(rules.breaker(name).rate()) : breaker.why(),
                known == null ? null : breaker.since(),
                probes ? breaker.nextProbe() : null,
                ramp(breaker, held),
                budget(budget.at(settings, now), settings, waiting, now),
                held + waiting,
                breaker.force(),
                known == null ? null : calls(breaker, rules.breaker(name), now));
    }

    /**
     * Returns whether only a rate that is set holds jobs back. Inside, a rate is a ramp that never ends, but nothing is wrong
     * with the resource.
     */
    public boolean isAtItsRate(String resource, Breaker breaker) {
        rules.learnRates(breaker.isOfRate() ? Set.of(resource) : Set.of());
        return breaker.isAtItsRate(rules.breaker(resource));
    }

    private static String limit(double rate) {
        String calls = new BigDecimal(rate)
                .round(new MathContext(3))
                .stripTrailingZeros()
                .toPlainString();
        return "nothing is wrong; somebody set a rate of " + calls + " jobs per second";
    }

    /** Describes what a closed breaker has counted; null if that is nothing, or too old to decide anything. */
    private static ResourceStatus.@Nullable CallStatus calls(Breaker breaker, BreakerSettings settings, Instant now) {
        CallWindow window = breaker.window().plus(Counts.NONE, settings.window(), now);
        Counts counted = window.total();
        if (breaker.phase() != BreakerPhase.CLOSED || counted.calls() == 0) {
            return null;
        }
        return new ResourceStatus.CallStatus(
                counted.calls(),
                counted.failures(),
                breaker.streak(),
                settings.failureRate(),
                settings.minSamples(),
                settings.streak(),
                settings.window());
    }

    /** Describes how a breaker unparks its {@code held} jobs. Returns null unless the breaker is ramping. */
    public static ResourceStatus.@Nullable RampStatus ramp(Breaker breaker, long held) {
        if (breaker.phase() != BreakerPhase.RAMPING) {
            return null;
        }
        Ramp ramp = breaker.ramp();
        return new ResourceStatus.RampStatus(
                ramp.admitted(),
                ramp.aim(breaker.flow()),
                ramp.why(),
                ramp.inFlight() > 0 ? ramp.inFlight() : null,
                ramp.timeFor(held, breaker.flow()));
    }

    private static ResourceStatus.BudgetStatus budget(
            RetryBudget budget, BudgetSettings settings, long waiting, Instant now) {
        return new ResourceStatus.BudgetStatus(
                budget.level(),
                settings.capacity(),
                waiting,
                waiting == 0 ? null : budget.timeFor(waiting, settings, now));
    }

    /** Describes a budget for which {@code waiting} retries are parked. */
    public ResourceStatus.BudgetStatus budget(ControlKey key, long waiting) {
        Instant now = store.now();
        BudgetSettings settings = rules.budget(key);
        RetryBudget known = read().budgets().getOrDefault(key, RetryBudget.full(settings, now));
        return budget(known.at(settings, now), settings, waiting, now);
    }

    public void force(String resource, boolean open, AuditNote note) {
        ForcedBy force = new ForcedBy(note.by(), note.why());
        change(resource, (breaker, now) -> breaker.forced(open, force, now), open ? "force-open" : "force-close", note);
    }

    public void automatic(String resource, AuditNote note) {
        change(resource, Breaker::automatic, "automatic", note);
    }

    private void change(String resource, FleetControl.Next<Breaker> change, String action, AuditNote note) {
        if (!read().change(resource, change, new FleetControl.Operator(action, note))) {
            throw new RepriseException("The breaker of '" + resource + "' was changed by others time after time, so "
                    + action + " was not done: try again");
        }
    }

    private FleetControl read() {
        FleetControl shared = new FleetControl(store, rules, events, store::now);
        shared.read(0);
        rules.learnRates(shared.rated());
        return shared;
    }
}
