// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.control.Breaker;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlKey;
import io.reprise.control.RetryBudget;
import io.reprise.control.Tally;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/**
 * Carries control state between this worker and the fleet: tells what was observed here, learns what others found out. On
 * the worker that leads it also moves breakers on with time, and lets parked jobs go as breakers and budgets allow. Every
 * change compares and sets, so two that believe they lead let no more go than one.
 */
final class Warden implements Role {

    private static final Duration IDLE = Duration.ofSeconds(5);
    private static final Duration TICK = Duration.ofSeconds(1);
    private static final Duration TROUBLE_TICK = Duration.ofMillis(500);
    private static final Duration RAMP_TICK = Duration.ofMillis(100);
    /** The least time between two reports. */
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static final int ORPHANS = 500;
    private static final int MAX_GRANTS = 500;

    private final JobStore store;
    private final Driver driver;
    private final StoreClock clock;
    private final Control control;
    private final ControlRules rules;
    private final RandomGenerator random;
    private final BooleanSupplier leads;
    private final OutageRest outage;
    private final SharedControl shared;
    private final AtomicBoolean urgent = new AtomicBoolean();
    /** Names that nothing parked by could be let go of, for their queues are paused, and when that was. */
    private final Map<String, Long> stuckNanos = new HashMap<>();

    private long lastNanos;
    private long nextReportNanos;
    private long nextReadNanos;
    private long measuredNanos;

    Warden(EngineParts parts, Control control, ControlRules rules, BooleanSupplier leads) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.clock = parts.clock();
        this.control = control;
        this.rules = rules;
        this.random = parts.random();
        this.leads = leads;
        this.outage = new OutageRest("warden", parts.random());
        this.shared = new SharedControl(parts.store(), rules, parts.events());
        long now = parts.driver().nanos();
        this.lastNanos = now - PAUSE.toNanos();
        this.nextReportNanos = now;
        this.nextReadNanos = now;
        this.measuredNanos = now;
    }

    @Override
    public String name() {
        return "warden";
    }

    /** Something was observed that the fleet should know at once. */
    void hurry() {
        if (urgent.compareAndSet(false, true)) {
            driver.wake(this);
        }
    }

    @Override
    public Duration step() {
        long nanos = driver.nanos();
        long early = lastNanos + PAUSE.toNanos() - nanos;
        if (early > 0) {
            return Duration.ofNanos(early);
        }
        lastNanos = nanos;
        boolean hurried = urgent.getAndSet(false);
        try {
            if (hurried || nanos - nextReadNanos >= 0) {
                shared.read(clock.now());
                nextReadNanos = nanos + TICK.toNanos();
            }
            if (hurried || nanos - nextReportNanos >= 0) {
                report();
                sayAgain();
                nextReportNanos = nanos + TROUBLE_TICK.toNanos();
            }
            measure(nanos);
            boolean parked = leads.getAsBoolean() && letGo();
            control.learn(shared.breakers(), shared.budgets());
            outage.worked();
            return rest(parked);
        } catch (StoreException e) {
            if (!e.isTransient()) {
                control.goOnWithout();
            }
            return outage.failed(e);
        } catch (RuntimeException e) {
            control.goOnWithout();
            throw e;
        }
    }

    private Duration rest(boolean parked) {
        if (parked && shared.breakers().values().stream().anyMatch(b -> b.phase() == Breaker.Phase.RAMPING)) {
            return RAMP_TICK;
        }
        if (parked || !shared.breakers().isEmpty() || !shared.budgets().isEmpty()) {
            return TROUBLE_TICK;
        }
        return control.isActive() ? TICK : IDLE;
    }

    private void report() {
        Instant now = clock.now();
        for (String resource : control.news()) {
            Tally tally = control.take(resource);
            BreakerSettings settings = rules.breaker(resource);
            boolean told = false;
            try {
                told = shared.change(resource, now, breaker -> breaker.after(tally, settings, now, random), null)
                        .isPresent();
            } finally {
                if (!told) {
                    control.giveBack(resource, tally);
                }
            }
        }
        for (ControlKey key : control.spent()) {
            double change = control.takeTokens(key);
            boolean told = false;
            try {
                told = change(key, now, change, true).isPresent();
            } finally {
                if (!told) {
                    control.giveBack(key, change);
                }
            }
        }
    }

    /** What holds jobs back must not be taken for something that all workers have switched off. */
    private void sayAgain() {
        Instant now = clock.now();
        Map.copyOf(shared.breakers()).forEach((resource, breaker) -> {
            if (breaker.isUnheard(now) && rules.breaker(resource).enabled()) {
                shared.change(resource, now, b -> b.isUnheard(now) ? b.heard(now) : b, null);
            }
        });
        Map.copyOf(shared.budgets()).forEach((key, budget) -> {
            if (budget.isUnheard(now) && rules.budget(key).enabled()) {
                shared.change(key, now, b -> b.isUnheard(now) ? b.heard(now) : b);
            }
        });
    }

    private Optional<RetryBudget> change(ControlKey key, Instant now, double tokens, boolean heard) {
        BudgetSettings settings = rules.budget(key);
        return shared.change(key, now, budget -> {
            RetryBudget after = budget.at(settings, now).plus(tokens, settings);
            return heard ? after.heard(now) : after;
        });
    }

    private void measure(long nanos) {
        if (nanos - measuredNanos >= TICK.toNanos()) {
            control.measure((nanos - measuredNanos) / 1e9);
            measuredNanos = nanos;
        }
    }

    /** Lets parked jobs go as far as they may. Returns whether there were any. */
    private boolean letGo() {
        Instant now = clock.now();
        Set<String> parkedBy = store.parkedBy();
        stuckNanos.keySet().retainAll(parkedBy);
        for (String name : parkedBy) {
            Long stuck = stuckNanos.get(name);
            if (stuck != null && driver.nanos() - stuck < IDLE.toNanos()) {
                continue;
            }
            Optional<ControlKey> key = ControlKey.parse(name);
            if (key.isEmpty()) {
                store.unpark(name, ORPHANS);
            } else if (key.get().kind() == ControlKey.Kind.BREAKER) {
                letThrough(key.get(), now);
            } else {
                grant(key.get(), now);
            }
        }
        List<String> resources = new ArrayList<>(shared.breakers().keySet());
        for (String resource : resources) {
            ControlKey key = ControlKey.breaker(resource);
            if (!parkedBy.contains(key.text())) {
                nothingParked(key, now);
            }
        }
        List<ControlKey> budgets = new ArrayList<>(shared.budgets().keySet());
        for (ControlKey key : budgets) {
            if (!parkedBy.contains(key.text())) {
                nothingWaits(key, now);
            }
        }
        return !parkedBy.isEmpty();
    }

    private void letThrough(ControlKey key, Instant now) {
        String resource = key.subject();
        BreakerSettings settings = rules.breaker(resource);
        Breaker known = shared.breakers().get(resource);
        // Others may go by a breaker that this worker does without: then it is moved on for them.
        if (known == null || !known.holds() || (!settings.enabled() && known.isForgotten(now))) {
            store.unpark(key.text(), ORPHANS);
            return;
        }
        Breaker later = known.at(settings, now);
        int permits = later.permits();
        if (permits == 0 && later.phase() == known.phase()) {
            return;
        }
        int[] taken = {0};
        boolean changed = shared.change(resource, now, breaker -> taken(breaker.at(settings, now), taken), null)
                .isPresent();
        if (changed && taken[0] > 0) {
            int unparked = store.unpark(key.text(), taken[0]);
            noteStuck(key, unparked);
            if (unparked < taken[0]) {
                int unused = taken[0] - unparked;
                shared.change(
                        resource, now, breaker -> breaker.letThrough(-unused).drained(now), null);
            }
        }
    }

    private void noteStuck(ControlKey key, int unparked) {
        if (unparked == 0) {
            stuckNanos.put(key.text(), driver.nanos());
        } else {
            stuckNanos.remove(key.text());
        }
    }

    private static Breaker taken(Breaker breaker, int[] taken) {
        taken[0] = breaker.permits();
        return breaker.letThrough(taken[0]);
    }

    private void nothingParked(ControlKey key, Instant now) {
        Breaker breaker = shared.breakers().get(key.subject());
        if (breaker == null) {
            return;
        }
        BreakerSettings settings = rules.breaker(key.subject());
        Breaker later = breaker.at(settings, now).drained(now);
        if (later.isAtRest(settings, now) || (!settings.enabled() && breaker.isForgotten(now))) {
            shared.remove(key);
        } else if (later.phase() != breaker.phase()) {
            shared.change(key.subject(), now, b -> b.at(settings, now).drained(now), null);
        }
    }

    private void grant(ControlKey key, Instant now) {
        BudgetSettings settings = rules.budget(key);
        RetryBudget known = shared.budgets().get(key);
        // Others may go by a budget that this worker does without: then it grants for them.
        if (!settings.enabled() && (known == null || known.isForgotten(now))) {
            store.unpark(key.text(), ORPHANS);
            return;
        }
        if (known != null && known.waiting() && known.at(settings, now).grants() == 0) {
            return;
        }
        int[] granted = {0};
        boolean changed = shared.change(key, now, budget -> {
                    RetryBudget later = budget.at(settings, now);
                    granted[0] = Math.min(later.grants(), MAX_GRANTS);
                    return later.plus(-RetryBudget.costOf(granted[0]), settings).waiting(true);
                })
                .isPresent();
        if (changed && granted[0] > 0) {
            int unparked = store.unpark(key.text(), granted[0]);
            noteStuck(key, unparked);
            if (unparked < granted[0]) {
                change(key, now, RetryBudget.costOf(granted[0] - unparked), false);
            }
        }
    }

    private void nothingWaits(ControlKey key, Instant now) {
        RetryBudget budget = shared.budgets().get(key);
        if (budget == null) {
            return;
        }
        BudgetSettings settings = rules.budget(key);
        if (budget.at(settings, now).isFull(settings)) {
            shared.remove(key);
        } else if (budget.waiting()) {
            shared.change(key, now, b -> b.at(settings, now).waiting(false));
        }
    }
}
