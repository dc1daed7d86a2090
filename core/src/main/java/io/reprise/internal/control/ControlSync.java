// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.control;

import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlKey;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.OutageRest;
import io.reprise.internal.engine.Role;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.run.UnhandledTypes;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.store.Unparking;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Syncs breakers and budgets between this worker and the store: it reports the outcomes counted in {@link LocalControl} and
 * refreshes its copy. On the leader it also moves breakers on with time, and unparks jobs as breakers and budgets
 * allow. Every change compares and sets, so two workers that believe they lead unpark no more jobs than one.
 */
public final class ControlSync implements Role {

    private static final Duration IDLE = Duration.ofSeconds(5);
    private static final Duration TICK = Duration.ofSeconds(1);
    private static final Duration TROUBLE_TICK = Duration.ofMillis(500);
    private static final Duration RAMP_TICK = Duration.ofMillis(100);
    /** How often outcomes are reported while jobs are unparked. */
    private static final Duration RAMP_REPORT = Duration.ofMillis(250);
    /** How often the leader reads the rates that are in the code of other workers. */
    private static final Duration LEARN = Duration.ofSeconds(5);
    /** The least time between two reports. */
    private static final Duration PAUSE = Duration.ofMillis(100);
    /** After this time the other work of the role has its turn, and unparking continues at once. */
    private static final Duration SLICE = Duration.ofMillis(200);

    /** Jobs that one statement unparks. The next statement follows at once. */
    private static final int CHUNK = 5_000;

    /** A long step is followed by a rest of this many times its length, so this role takes only a part of the time. */
    private static final int SHARE = 4;

    /** Upper limit of a rest: a step may be long because the process stood still. */
    private static final Duration LONGEST_REST = Duration.ofSeconds(10);

    private final JobStore store;
    private final Driver driver;
    private final StoreClock clock;
    private final LocalControl control;
    private final ControlConfig rules;
    private final UnhandledTypes unhandled;
    private final RandomGenerator random;
    private final BooleanSupplier leads;
    private final OutageRest outage;
    private final FleetControl shared;
    private final AtomicBoolean urgent = new AtomicBoolean();
    /** Control names whose parked jobs are all in paused queues, with the time of the last try. */
    private final Map<String, Long> stuckNanos = new HashMap<>();
    /** Names that had parked jobs at the last look. */
    private Set<String> parkedBy = Set.of();

    private long reportedNanos;
    private long pauseNanos = PAUSE.toNanos();
    private long nextReportNanos;
    private long nextReadNanos;
    private long nextNamesNanos;
    private long nextRatesNanos;
    private long measuredNanos;
    private boolean more;
    /** Time that unparking took in this step. It needs no rest. */
    private long lettingGoNanos;
    /** Whether {@link #parkedBy} was read in this step. */
    private boolean namesAreNew;

    public ControlSync(EngineParts parts, LocalControl control, ControlConfig rules, BooleanSupplier leads) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.clock = parts.clock();
        this.control = control;
        this.rules = rules;
        this.unhandled = parts.unhandled();
        this.random = parts.random();
        this.leads = leads;
        this.outage = new OutageRest("control", parts.random());
        this.shared = new FleetControl(parts.store(), rules, parts.events(), parts.clock()::now);
        long now = parts.driver().nanos();
        this.reportedNanos = now - PAUSE.toNanos();
        this.nextReportNanos = now;
        this.nextReadNanos = now;
        this.nextNamesNanos = now;
        this.nextRatesNanos = now;
        this.measuredNanos = now;
    }

    @Override
    public String name() {
        return "control";
    }

    /** Makes this role sync at once, because of an urgent outcome. */
    public void syncNow() {
        if (urgent.compareAndSet(false, true)) {
            driver.wake(this);
        }
    }

    /** Wakes this role after a quiet time, because there is something to measure. */
    public void begin() {
        driver.wake(this);
    }

    @Override
    public Duration step() {
        long nanos = driver.nanos();
        try {
            exchange(nanos);
            // At once: an opened breaker must hold jobs back while this step goes on.
            control.learn(shared.breakers(), shared.budgets());
            measure(nanos);
            more = false;
            lettingGoNanos = 0;
            if (leads.getAsBoolean()) {
                letGo(nanos);
            }
            control.learn(shared.breakers(), shared.budgets());
            outage.worked();
            return rest(driver.nanos() - nanos - lettingGoNanos);
        } catch (StoreException e) {
            if (!e.isTransient()) {
                control.readyWithoutFleetState();
            }
            return outage.failed(e);
        } catch (RuntimeException e) {
            control.readyWithoutFleetState();
            throw e;
        }
    }

    /**
     * Reads and reports when it is time, or at once if something urgent was observed, but not more often than
     * {@code pauseNanos} allows.
     */
    private void exchange(long nanos) {
        boolean early = nanos - reportedNanos < pauseNanos;
        boolean hurried = !early && urgent.getAndSet(false);
        if (hurried || nanos - nextReadNanos >= 0) {
            shared.read(nanos);
            nextReadNanos = nanos + TICK.toNanos();
        }
        if (hurried || nanos - nextReportNanos >= 0) {
            report();
            sayAgain();
            reportedNanos = driver.nanos();
            pauseNanos = Math.max(PAUSE.toNanos(), restNanos(reportedNanos - nanos));
            nextReportNanos = nanos + Math.max(pauseNanos, (isLettingGo() ? RAMP_REPORT : TROUBLE_TICK).toNanos());
        }
    }

    private boolean isLettingGo() {
        return shared.breakers().values().stream().anyMatch(b -> b.phase() == BreakerPhase.RAMPING)
                || shared.budgets().values().stream().anyMatch(RetryBudget::waiting);
    }

    private static long restNanos(long tookNanos) {
        return Math.min(SHARE * tookNanos, LONGEST_REST.toNanos());
    }

    private Duration rest(long tookNanos) {
        if (more) {
            return Duration.ZERO;
        }
        if (urgent.get() || isLettingGo()) {
            return Duration.ofNanos(Math.max(RAMP_TICK.toNanos(), restNanos(tookNanos)));
        }
        if (!parkedBy.isEmpty()
                || !shared.breakers().isEmpty()
                || !shared.budgets().isEmpty()) {
            return TROUBLE_TICK;
        }
        return control.isActive() ? TICK : IDLE;
    }

    private void report() {
        FleetControl.Changes changes = shared.changes();
        for (String resource : control.news()) {
            CallCounts tally = control.take(resource);
            LocalControl.PassesUsed used = control.takePasses(resource);
            BreakerSettings settings = rules.breaker(resource);
            int[] passes = {0};
            changes.breaker(
                    resource,
                    (breaker, now) -> {
                        Breaker.Passed passed = breaker.after(tally, settings, now, random)
                                .pass(2 * used.seen(), used.left(), used.backlog(), settings, now);
                        passes[0] = passed.jobs();
                        return passed.breaker();
                    },
                    told -> {
                        if (told.isEmpty()) {
                            control.giveBack(resource, tally);
                            control.giveBack(resource, used);
                        } else {
                            control.givePasses(resource, passes[0] - used.left());
                        }
                    });
        }
        for (ControlKey key : control.spent()) {
            double credits = control.takeCredits(key);
            changes.budget(key, (budget, now) -> plus(key, budget, credits, now).heard(now), told -> {
                if (told.isEmpty()) {
                    control.giveBack(key, credits);
                }
            });
        }
        changes.write();
    }

    /**
     * Confirms breakers and budgets that this worker uses. Without confirmation they count as
     * switched off by all workers.
     */
    private void sayAgain() {
        Instant current = clock.now();
        FleetControl.Changes changes = shared.changes();
        shared.breakers().forEach((resource, breaker) -> {
            if (breaker.isUnheard(current) && rules.breaker(resource).enabled()) {
                changes.breaker(resource, (b, now) -> b.isUnheard(now) ? b.heard(now) : b, told -> {});
            }
        });
        shared.budgets().forEach((key, budget) -> {
            if (budget.isUnheard(current) && rules.budget(key).enabled()) {
                changes.budget(key, (b, now) -> b.isUnheard(now) ? b.heard(now) : b, told -> {});
            }
        });
        changes.write();
    }

    private RetryBudget plus(ControlKey key, RetryBudget budget, double credits, Instant now) {
        BudgetSettings settings = rules.budget(key);
        return budget.at(settings, now).plus(credits, settings);
    }

    private void measure(long nanos) {
        if (nanos - measuredNanos >= TICK.toNanos()) {
            control.measure((nanos - measuredNanos) / 1e9);
            measuredNanos = nanos;
        }
    }

    /** Unparks jobs as far as breakers, budgets and handlers allow. */
    private void letGo(long nanos) {
        Instant now = clock.now();
        namesAreNew = nanos - nextNamesNanos >= 0;
        if (namesAreNew) {
            parkedBy = store.parkedBy();
            stuckNanos.keySet().retainAll(parkedBy);
            // Reading very many names takes no more than a part of the time.
            long took = driver.nanos() - nanos;
            nextNamesNanos = nanos + Math.max(TICK.toNanos(), restNanos(took));
            learnRates(nanos);
            settleDown(now);
            keepRates(now);
        }
        Set<String> names = new TreeSet<>(parkedBy);
        shared.breakers().forEach((resource, breaker) -> {
            if (breaker.holds()) {
                names.add(ControlKey.breaker(resource).text());
            }
        });
        shared.budgets().forEach((key, budget) -> {
            if (budget.waiting()) {
                names.add(key.text());
            }
        });
        names.removeIf(this::isStuck);
        letGo(names, now);
    }

    /** Learns rates that are in the code of other workers only, if they park jobs at such a rate. */
    private void learnRates(long nanos) {
        if (nanos - nextRatesNanos >= 0) {
            Set<String> used = shared.rated();
            // Only a worker with a rate parks jobs by a breaker that does not exist.
            parkedBy.forEach(name -> ControlKey.parse(name)
                    .filter(key -> key.kind() == ControlKey.Kind.BREAKER)
                    .filter(key -> !shared.breakers().containsKey(key.subject()))
                    .ifPresent(key -> used.add(key.subject())));
            rules.learnRates(used);
            nextRatesNanos = nanos + LEARN.toNanos();
        }
    }

    /** Makes the breakers of resources with a rate: they let jobs go at that rate, also if nothing ever failed. */
    private void keepRates(Instant now) {
        FleetControl.Changes changes = shared.changes();
        for (String resource : rules.rated()) {
            BreakerSettings settings = rules.breaker(resource);
            Breaker known = shared.breakers().get(resource);
            if (known == null || known.phase() != known.at(settings, now).phase()) {
                changes.breaker(
                        resource, (breaker, at) -> breaker.at(settings, at).heard(at), told -> {});
            }
        }
        changes.write();
    }

    private boolean isStuck(String name) {
        Long stuck = stuckNanos.get(name);
        return stuck != null && driver.nanos() - stuck < IDLE.toNanos();
    }

    private void letGo(Set<String> names, Instant now) {
        // This may read the store and fail. So it comes before credit is taken.
        List<String> handled = names.stream()
                .filter(name -> !UnhandledTypes.isName(name) || unhandled.isHandledNow(name))
                .toList();
        List<String> free = new ArrayList<>();
        Takings takings = new Takings(now);
        for (String name : handled) {
            ControlKey key = ControlKey.parse(name).orElse(null);
            boolean held =
                    key != null && (key.kind() == ControlKey.Kind.BREAKER ? takings.breaker(key) : takings.budget(key));
            if (!held) {
                free.add(name);
            }
        }
        takings.letGo();
        unparkAll(free);
    }

    /**
     * Moves breakers and budgets without parked jobs towards their default state, and deletes
     * those that have reached it.
     */
    private void settleDown(Instant now) {
        List<ControlKey> atRest = new ArrayList<>();
        FleetControl.Changes changes = shared.changes();
        shared.breakers().keySet().forEach(resource -> {
            ControlKey key = ControlKey.breaker(resource);
            if (!parkedBy.contains(key.text())) {
                nothingParked(key, now, atRest, changes);
            }
        });
        shared.budgets().keySet().forEach(key -> {
            if (!parkedBy.contains(key.text())) {
                nothingWaits(key, now, atRest, changes);
            }
        });
        shared.remove(atRest);
        changes.write();
    }

    private void nothingParked(ControlKey key, Instant now, List<ControlKey> atRest, FleetControl.Changes changes) {
        Breaker breaker = Objects.requireNonNull(shared.breakers().get(key.subject()));
        BreakerSettings settings = rules.breaker(key.subject());
        Breaker later = drained(breaker.at(settings, now), settings, now);
        if (later.isAtRest(settings, now) || (!settings.enabled() && breaker.isForgotten(now))) {
            atRest.add(key);
        } else if (later.phase() != breaker.phase()) {
            changes.breaker(key.subject(), (b, at) -> drained(b.at(settings, at), settings, at), told -> {});
        }
    }

    /** A breaker that keeps a rate stays, also if nothing is parked. */
    private static Breaker drained(Breaker breaker, BreakerSettings settings, Instant now) {
        return settings.rate() > 0 ? breaker : breaker.drained(now);
    }

    private void nothingWaits(ControlKey key, Instant now, List<ControlKey> atRest, FleetControl.Changes changes) {
        RetryBudget budget = Objects.requireNonNull(shared.budgets().get(key));
        BudgetSettings settings = rules.budget(key);
        if (budget.at(settings, now).isFull(settings)) {
            atRest.add(key);
        } else if (budget.waiting()) {
            changes.budget(key, (b, at) -> b.at(settings, at).waiting(false), told -> {});
        }
    }

    /** Unparks all jobs of these names, because nothing holds them any more. */
    private void unparkAll(List<String> names) {
        long end = driver.nanos() + SLICE.toNanos();
        // Fresh jobs first: they must not queue behind the backlog, which counts as retries in claims.
        boolean done =
                unparkAll(names.stream().flatMap(name -> fresh(name).stream()).toList(), end)
                        && unparkAll(
                                names.stream()
                                        .map(name -> Unparking.backlog(name, CHUNK))
                                        .toList(),
                                end);
        more = more || !done;
    }

    private Optional<Unparking> fresh(String name) {
        return ControlKey.parse(name)
                .filter(key -> key.kind() == ControlKey.Kind.BREAKER)
                .filter(key -> rules.breaker(key.subject()).freshShare() > 0)
                .flatMap(key -> Optional.ofNullable(shared.breakers().get(key.subject())))
                .map(breaker -> Unparking.fresh(name, CHUNK, breaker.failed()));
    }

    /** Returns whether all jobs were unparked before this time. */
    private boolean unparkAll(List<Unparking> wanted, long end) {
        List<Unparking> left = wanted;
        while (!left.isEmpty() && driver.nanos() - end < 0) {
            int each = Math.max(1, CHUNK / left.size());
            List<Unparking> asked = left.subList(0, Math.min(left.size(), CHUNK));
            List<Integer> unparked =
                    unparkNow(asked.stream().map(one -> one.upTo(each).freely()).toList());
            List<Unparking> full = new ArrayList<>();
            for (int i = 0; i < asked.size(); i++) {
                if (unparked.get(i) >= each) {
                    full.add(asked.get(i));
                }
            }
            full.addAll(left.subList(asked.size(), left.size()));
            left = full;
        }
        return left.isEmpty();
    }

    private List<Integer> unparkNow(List<Unparking> wanted) {
        long begin = driver.nanos();
        List<Integer> unparked = store.unpark(wanted);
        lettingGoNanos += driver.nanos() - begin;
        return unparked;
    }

    /** Unparks these jobs, a chunk at a time. Returns the number for each request. */
    private int[] unpark(List<Unparking> wanted) {
        int[] unparked = new int[wanted.size()];
        int[] left = wanted.stream().mapToInt(Unparking::max).toArray();
        List<Integer> open = new ArrayList<>();
        for (int i = 0; i < left.length; i++) {
            if (left[i] > 0) {
                open.add(i);
            }
        }
        while (!open.isEmpty()) {
            List<Integer> some = new ArrayList<>();
            List<Unparking> requests = new ArrayList<>();
            for (int sum = 0; some.size() < open.size() && sum < CHUNK; ) {
                int i = open.get(some.size());
                int max = Math.min(left[i], CHUNK - sum);
                some.add(i);
                requests.add(wanted.get(i).upTo(max));
                sum += max;
            }
            List<Integer> found = unparkNow(requests);
            List<Integer> again = new ArrayList<>();
            for (int n = 0; n < some.size(); n++) {
                int i = some.get(n);
                unparked[i] += found.get(n);
                left[i] -= found.get(n);
                if (left[i] > 0 && found.get(n) >= requests.get(n).max()) {
                    again.add(i);
                }
            }
            again.addAll(open.subList(some.size(), open.size()));
            open = again;
        }
        return unparked;
    }

    /**
     * Unparks jobs in one step of the leader: it takes permits and credit from all breakers and budgets, unparks, and
     * gives unused permits and credit back.
     */
    private final class Takings {

        private final Instant now;
        private final FleetControl.Changes takes;
        private final List<Taking> taken = new ArrayList<>();

        Takings(Instant now) {
            this.now = now;
            this.takes = shared.changes();
        }

        /** Number of jobs to unpark for one key, of which up to {@code fresh} are fresh jobs. */
        private record Taking(
                ControlKey key,
                int jobs,
                int fresh,
                @Nullable Instant since) {

            List<Unparking> fresh(String name) {
                return since == null || fresh == 0 ? List.of() : List.of(Unparking.fresh(name, fresh, since));
            }
        }

        /** Takes permits from a breaker. Returns false if nothing holds the jobs that this name parks. */
        boolean breaker(ControlKey key) {
            String resource = key.subject();
            BreakerSettings settings = rules.breaker(resource);
            Breaker known = shared.breakers().get(resource);
            // Other workers may use a breaker that this worker has switched off. The leader then moves it on for them.
            if (known == null || !known.holds() || (!settings.enabled() && known.isForgotten(now))) {
                return false;
            }
            Breaker later = known.at(settings, now);
            if (later.permits() > 0 || later.phase() != known.phase()) {
                int[] permits = {0};
                takes.breaker(
                        resource,
                        (breaker, at) -> {
                            Breaker moved = breaker.at(settings, at);
                            permits[0] = moved.permits();
                            return moved.letThrough(permits[0]);
                        },
                        changed -> changed.ifPresent(breaker -> add(key, permits[0], settings, breaker)));
            }
            return true;
        }

        /** Fresh jobs get their share, the latest first. The backlog gets the rest. */
        private void add(ControlKey key, int jobs, BreakerSettings settings, Breaker breaker) {
            if (jobs > 0) {
                double share = breaker.freshShare(settings, now);
                int fresh = (int) (jobs * share + (share > 0 ? random.nextDouble() : 0));
                taken.add(new Taking(key, jobs, fresh, breaker.failed()));
            }
        }

        /** Takes credit from a budget. Returns false if nothing holds the jobs that this name parks. */
        boolean budget(ControlKey key) {
            BudgetSettings settings = rules.budget(key);
            RetryBudget known = shared.budgets().get(key);
            // Other workers may use a budget that this worker has switched off. The leader then
            // unparks retries for them.
            if (!settings.enabled() && (known == null || known.isForgotten(now))) {
                return false;
            }
            if (known == null || !known.waiting() || known.at(settings, now).grants() > 0) {
                int[] grants = {0};
                // What this process has spent since its last report counts first. Otherwise it would be granted twice.
                double credits = control.takeCredits(key);
                takes.budget(
                        key,
                        (budget, at) -> {
                            RetryBudget later = plus(key, budget, credits, at).waiting(true);
                            grants[0] = later.grants();
                            return later.granted(grants[0], settings, at);
                        },
                        changed -> {
                            if (changed.isEmpty()) {
                                control.giveBack(key, credits);
                            } else if (grants[0] > 0) {
                                taken.add(new Taking(key, grants[0], 0, null));
                            }
                        });
            }
            return true;
        }

        void letGo() {
            takes.write();
            if (!taken.isEmpty()) {
                giveBack(unparkTaken());
            }
        }

        private int[] unparkTaken() {
            List<Unparking> fresh = new ArrayList<>();
            taken.forEach(taking -> fresh.addAll(taking.fresh(taking.key.text())));
            int[] freshUnparked = unpark(fresh);
            List<Unparking> backlog = new ArrayList<>();
            int[] unparked = new int[taken.size()];
            int next = 0;
            for (int i = 0; i < taken.size(); i++) {
                Taking taking = taken.get(i);
                unparked[i] = taking.fresh(taking.key.text()).isEmpty() ? 0 : freshUnparked[next++];
                backlog.add(Unparking.backlog(taking.key.text(), Math.max(0, taking.jobs - unparked[i])));
            }
            int[] rest = unpark(backlog);
            for (int i = 0; i < unparked.length; i++) {
                unparked[i] += rest[i];
            }
            return unparked;
        }

        private void giveBack(int[] unparked) {
            FleetControl.Changes changes = shared.changes();
            for (int i = 0; i < unparked.length; i++) {
                ControlKey key = taken.get(i).key;
                int unused = taken.get(i).jobs - unparked[i];
                noteStuck(key, unparked[i]);
                if (unused > 0 && key.kind() == ControlKey.Kind.BREAKER) {
                    BreakerSettings settings = rules.breaker(key.subject());
                    changes.breaker(key.subject(), (b, at) -> drained(b.letThrough(-unused), settings, at), told -> {});
                } else if (unused > 0) {
                    changes.budget(key, (b, at) -> plus(key, b, RetryBudget.costOf(unused), at), told -> {});
                }
            }
            changes.write();
        }
    }

    private void noteStuck(ControlKey key, int unparked) {
        if (unparked > 0 || !parkedBy.contains(key.text())) {
            stuckNanos.remove(key.text());
        } else if (namesAreNew) {
            stuckNanos.put(key.text(), driver.nanos());
        } else {
            // The last job of this name may have gone since the names were read, so read them again.
            nextNamesNanos = driver.nanos();
        }
    }
}
