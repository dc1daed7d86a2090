// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlKey;
import io.reprise.failure.FailureClass;
import io.reprise.internal.control.CallCounts.Counts;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.run.Run;
import io.reprise.internal.run.RunResult;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.retry.Decision;
import io.reprise.step.Step;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * This worker's copy of the fleet's breakers and budgets, and the outcomes that it has not reported yet. Handler
 * threads and the {@code Committer} ask it for every job, so no method waits for the store. The {@link ControlSync} reports
 * to the store and refreshes the copy. Thread-safe.
 */
public final class LocalControl {

    private static final Counts FAILURE = new Counts(0, 1, 0, 0, 0, 0);
    private static final Counts THROTTLED = new Counts(0, 0, 1, 0, 0, 0);
    private static final Counts OTHER = new Counts(0, 0, 0, 1, 0, 0);

    private final ControlConfig rules;
    private final StoreClock clock;
    private final Runnable onUrgent;
    private final Runnable onActive;

    private volatile Map<String, Breaker> breakers = Map.of();
    private volatile boolean active;
    private volatile boolean ready;
    private Map<ControlKey, RetryBudget> budgets = Map.of();
    private final Map<String, ResourceCounts> observed = new HashMap<>();
    /** By budget, credit earned minus credit spent since the last report. */
    private final Map<ControlKey, Double> credits = new HashMap<>();
    /** Credit in a report whose effect {@code budgets} does not show yet. A report of thousands of budgets takes a while. */
    private final Map<ControlKey, Double> reported = new HashMap<>();

    private final Map<String, Passes> passes = new HashMap<>();

    /** Passes for one resource that ramps up: this worker may run that many claimed jobs without parking them first. */
    private static final class Passes {
        /** Jobs that asked for a pass since the last report. */
        private int seen;
        /** Whether one of them never ran and waited already in the trouble. */
        private boolean backlog;
        /** Passes that are left. */
        private int left;
    }

    /** The passes of one resource: jobs that asked since the last report, whether one is of the backlog, and passes left. */
    record PassesUsed(int seen, boolean backlog, int left) {}

    /**
     * Creates the view of one worker.
     *
     * @param onUrgent runs when the fleet must learn of an outcome at once
     * @param onActive runs when a quiet worker begins to have something to measure
     */
    public LocalControl(ControlConfig rules, StoreClock clock, Runnable onUrgent, Runnable onActive) {
        this.rules = rules;
        this.clock = clock;
        this.onUrgent = onUrgent;
        this.onActive = onActive;
    }

    /** Whether a breaker holds this run back, so that it must not start. */
    public boolean holds(Run run) {
        String resource = run.job.spec().resource();
        return resource != null && holds(run, resource);
    }

    /** Whether the breaker of a step's resource holds the step back. */
    public boolean holdsStep(String resource, Run run) {
        return holds(run, resource);
    }

    private boolean holds(Run run, String resource) {
        Breaker breaker = breakers.get(resource);
        if (breaker == null || !breaker.holds()) {
            // Until the leader has made the breaker that keeps a rate, nothing says how many may start.
            return rules.breaker(resource).rate() > 0 && (breaker == null || breaker.force() == null) && !run.admitted;
        }
        if (breaker.force() != null) {
            return true;
        }
        if (!rules.breaker(resource).enabled()) {
            return false;
        }
        // An admitted run waits again if the breaker has opened again since. If the breaker's rest is over, the run may
        // be a new probe that this worker has not heard of, so it runs.
        return run.admitted
                ? breaker.rests(clock.now())
                : breaker.phase() != BreakerPhase.RAMPING || !passes(run, resource, breaker);
    }

    /** Whether this worker may run it without parking it first. A retry is no fresh job: it waits with the backlog. */
    private synchronized boolean passes(Run run, String resource, Breaker breaker) {
        if (run.job.counts().attempts() > 0) {
            return false;
        }
        Passes here = passes.computeIfAbsent(resource, name -> new Passes());
        here.seen++;
        here.backlog = here.backlog
                || (run.job.counts().equals(JobCounts.NONE)
                        && breaker.isBacklog(run.job.times().firstDueAt()));
        if (here.left == 0) {
            return false;
        }
        here.left--;
        run.admitted = true;
        return true;
    }

    /**
     * Whether an admitted run failed because of its resource, so that the failure costs the job no attempt. The
     * settings decide this, not this worker's copy of the breaker, which may be out of date.
     */
    public boolean excuses(Run run, @Nullable FailureClass failed) {
        String resource = blamed(run).spec().resource();
        if (!run.admitted || resource == null || failed == null) {
            return false;
        }
        BreakerSettings settings = rules.breaker(resource);
        Breaker known = breakers.get(resource);
        // Jobs that only a set rate held back were let go without any trouble.
        boolean trouble = known == null || !known.isAtItsRate(settings);
        return trouble && settings.counted().contains(failed);
    }

    /**
     * Pays for a retry from all budgets of the job. Returns the first budget that lacks credit; then nothing is paid,
     * and the job is parked by that budget.
     */
    public @Nullable ControlKey charge(Job job, FailureClass failed) {
        List<ControlKey> keys = budgetsOf(job);
        synchronized (this) {
            for (ControlKey key : keys) {
                if (lacks(key, cost(key, failed))) {
                    return key;
                }
            }
            keys.forEach(key -> credits.merge(key, -cost(key, failed), Double::sum));
        }
        wake();
        return null;
    }

    private double cost(ControlKey key, FailureClass failed) {
        return RetryBudget.cost(failed, rules.budget(key));
    }

    /** Whether a retry that this budget cannot pay for fails its job. */
    public boolean fails(ControlKey lacking) {
        return rules.budget(lacking).overflow() == BudgetSettings.Overflow.FAIL;
    }

    /** Returns the credit for a retry that was not written. */
    public void refund(Job job, Settlement settlement) {
        if (!(settlement.decision() instanceof Decision.Retry retry)
                || !(settlement.next() instanceof Settlement.Wait)) {
            return;
        }
        synchronized (this) {
            budgetsOf(job).forEach(key -> credits.merge(key, cost(key, retry.failureClass()), Double::sum));
        }
    }

    /** Reads before it writes: this runs for every job, and a volatile write is costly. */
    private void wake() {
        if (!active) {
            active = true;
            onActive.run();
        }
    }

    private boolean lacks(ControlKey key, double cost) {
        RetryBudget known = budgets.get(key);
        BudgetSettings settings = rules.budget(key);
        double level = known == null
                ? settings.capacity()
                : known.at(settings, clock.now()).level();
        double changed = credits.getOrDefault(key, 0.0) + reported.getOrDefault(key, 0.0);
        return (known != null && known.waiting()) || level + changed < cost;
    }

    private List<ControlKey> budgetsOf(Job job) {
        List<ControlKey> keys = new ArrayList<>(4);
        String resource = job.spec().resource();
        if (resource != null) {
            addEnabled(keys, ControlKey.budgetOfResource(resource));
        }
        addEnabled(keys, ControlKey.budgetOfType(job.type(), job.queue()));
        addEnabled(keys, ControlKey.budgetOfQueue(job.queue()));
        addEnabled(keys, ControlKey.budgetOfAll(job.queue()));
        return keys;
    }

    private void addEnabled(List<ControlKey> keys, ControlKey key) {
        if (rules.budget(key).enabled()) {
            keys.add(key);
        }
    }

    /** Counts the outcome of a run for its resource, and credits the budgets if the run succeeded. */
    public void ended(RunResult end, Settlement settlement) {
        Job job = blamed(end.run());
        boolean success = settlement.next() instanceof Settlement.Succeed;
        String resource = job.spec().resource();
        if (resource != null) {
            wake();
            ended(end, settlement, resource, success);
        }
        if (success && active) {
            earn(job);
        }
    }

    private void ended(RunResult end, Settlement settlement, String resource, boolean success) {
        BreakerSettings settings = rules.breaker(resource);
        if (!settings.enabled() || !end.wasTried()) {
            return;
        }
        boolean urgent;
        synchronized (this) {
            ResourceCounts seen = observed.computeIfAbsent(resource, name -> new ResourceCounts());
            Counts outcome = success ? Counts.success(end.ran().toNanos() / 1e9) : outcome(settlement, settings);
            seen.ended(outcome, end.run().admitted);
            Breaker known = breakers.get(resource);
            boolean closed = known == null || !known.holds();
            boolean probe = known != null && known.phase() == BreakerPhase.HALF_OPEN && end.run().admitted;
            urgent = probe || (closed && outcome.failures() + outcome.throttled() > 0);
        }
        if (urgent) {
            onUrgent.run();
        }
    }

    /** Returns the job with the resource that a failed run called: that of its step, if the step has one. */
    public static Job blamed(Run run) {
        Step<?> step = run.failedStep();
        return step == null || step.resource() == null ? run.job : at(run.job, step.resource());
    }

    private static Job at(Job job, String resource) {
        return new Job(
                job.id(), job.spec().toBuilder().resource(resource).build(), job.status(), job.counts(), job.times());
    }

    /** Counts a successful call of a step for its resource. */
    public void stepSucceeded(String resource, Run run, double seconds) {
        wake();
        if (!rules.breaker(resource).enabled()) {
            return;
        }
        boolean urgent;
        synchronized (this) {
            observed.computeIfAbsent(resource, name -> new ResourceCounts())
                    .ended(Counts.success(seconds), run.admitted);
            Breaker known = breakers.get(resource);
            urgent = known != null && known.phase() == BreakerPhase.HALF_OPEN && run.admitted;
        }
        earn(at(run.job, resource));
        if (urgent) {
            onUrgent.run();
        }
    }

    private static Counts outcome(Settlement settlement, BreakerSettings settings) {
        Decision decision = settlement.decision();
        FailureClass failed = decision == null ? null : decision.failureClass();
        if (failed == FailureClass.THROTTLED) {
            return THROTTLED;
        }
        return failed != null
                        && settlement.spent() != CountedAs.NOTHING
                        && settings.counted().contains(failed)
                ? FAILURE
                : OTHER;
    }

    private synchronized void earn(Job job) {
        // The usual case: nothing fails, so no budget exists.
        if (budgets.isEmpty() && credits.isEmpty()) {
            return;
        }
        for (ControlKey key : budgetsOf(job)) {
            double earned = RetryBudget.earned(job.counts().attempts() > 0, rules.budget(key));
            // A budget without state is full and earns nothing.
            if (earned > 0 && (budgets.containsKey(key) || credits.containsKey(key))) {
                credits.merge(key, earned, Double::sum);
            }
        }
    }

    /** Replaces the copy by the state that the store holds now. */
    synchronized void learn(Map<String, Breaker> newBreakers, Map<ControlKey, RetryBudget> newBudgets) {
        breakers = Map.copyOf(newBreakers);
        budgets = Map.copyOf(newBudgets);
        reported.clear();
        active = active || !breakers.isEmpty() || !budgets.isEmpty();
        ready = true;
    }

    /**
     * Lets the worker start although the stored state cannot be read. Unreadable control state must not stop all work.
     */
    void readyWithoutFleetState() {
        ready = true;
    }

    /**
     * Whether this worker knows the fleet's breakers. Until then it claims nothing, because it could run jobs that an
     * open breaker holds back.
     */
    public boolean isReady() {
        return ready;
    }

    /** Measures success rates, and drops counts of resources that have neither a breaker nor failures. */
    synchronized void measure(double seconds) {
        observed.forEach((resource, seen) -> {
            Breaker known = breakers.get(resource);
            seen.measure(seconds, known != null && known.holds());
            if (!breakers.containsKey(resource) && !seen.isTrouble()) {
                seen.forget();
            }
        });
        observed.values().removeIf(ResourceCounts::isIdle);
        credits.keySet().removeIf(key -> !budgets.containsKey(key) && credits.getOrDefault(key, 0.0) >= 0);
        active = !observed.isEmpty() || !credits.isEmpty() || !breakers.isEmpty() || !budgets.isEmpty();
    }

    /** Whether there are breakers, budgets or recent outcomes. */
    boolean isActive() {
        return active;
    }

    /** Returns the resources that have something to report. */
    synchronized Set<String> news() {
        Set<String> news = new TreeSet<>();
        observed.forEach((resource, seen) -> {
            if (seen.isTrouble() || (breakers.containsKey(resource) && !seen.isNothing())) {
                news.add(resource);
            }
        });
        passes.keySet().retainAll(breakers.keySet());
        news.addAll(passes.keySet());
        return news;
    }

    synchronized CallCounts take(String resource) {
        ResourceCounts seen = observed.get(resource);
        return seen == null ? CallCounts.NOTHING : seen.take();
    }

    /** Takes the passes to report, and resets the number of jobs that asked. */
    synchronized PassesUsed takePasses(String resource) {
        Passes here = passes.get(resource);
        if (here == null) {
            return new PassesUsed(0, false, 0);
        }
        PassesUsed used = new PassesUsed(here.seen, here.backlog, here.left);
        here.seen = 0;
        here.backlog = false;
        return used;
    }

    /** Adds passes, or removes them if {@code jobs} is negative. */
    synchronized void givePasses(String resource, int jobs) {
        Passes here = passes.get(resource);
        if (here != null) {
            here.left = Math.max(0, here.left + jobs);
            if (here.left == 0 && here.seen == 0) {
                passes.remove(resource);
            }
        }
    }

    /** Asks again for the passes of a report that was not written. */
    synchronized void giveBack(String resource, PassesUsed used) {
        Passes here = passes.get(resource);
        if (here != null) {
            here.seen += used.seen;
            here.backlog |= used.backlog;
        }
    }

    synchronized void giveBack(String resource, CallCounts tally) {
        observed.computeIfAbsent(resource, name -> new ResourceCounts()).giveBack(tally);
    }

    /** Returns the budgets whose credit changed here. */
    synchronized Set<ControlKey> spent() {
        return Set.copyOf(credits.keySet());
    }

    synchronized double takeCredits(ControlKey key) {
        Double change = credits.remove(key);
        if (change == null) {
            return 0;
        }
        reported.merge(key, change, Double::sum);
        return change;
    }

    synchronized void giveBack(ControlKey key, double change) {
        credits.merge(key, change, Double::sum);
        reported.merge(key, -change, Double::sum);
    }
}
