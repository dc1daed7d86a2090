// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.Queue;
import io.reprise.fairness.GroupRules;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.control.LocalControl;
import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.OutageRest;
import io.reprise.internal.engine.Role;
import io.reprise.internal.engine.WorkerSettings;
import io.reprise.internal.settle.RunTotals;
import io.reprise.job.Job;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims due jobs for free slots, and a few more ahead of them. The driver steps it; completions, local enqueues and
 * store wake-ups wake it, and it polls otherwise. It calls {@code JobStore.claim}, adds the leases to the
 * {@link LeaseBook} and hands the runs to the {@link Runner}.
 */
public final class Fetcher implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    private static final Duration FIRST_POLL = Duration.ofMillis(20);
    private static final Duration UNTIL_WOKEN = Duration.ofSeconds(10);
    /** A job that is due later than this needs no wake-up: a poll finds it in time. */
    private static final Duration MAX_EXPECTED_DELAY = Duration.ofHours(1);

    private static final long NEVER = Long.MAX_VALUE;

    private final JobStore store;
    private final WorkerSettings settings;
    private final LeaseBook book;
    private final Runner runner;
    private final LocalControl control;
    private final UnhandledTypes unhandled;
    private final Driver driver;
    private final RandomGenerator random;
    private final OutageRest outage;
    private final Set<String> types;
    private final QueueFinder finder;
    private final AtomicLong nextDueNanos = new AtomicLong(NEVER);
    private final LiveSettings live;
    private final FlowRules rules;
    private final TypeLimits typeLimits;
    private final RunTotals totals;
    private final QueueOrders orders;
    private Duration poll = FIRST_POLL;

    public Fetcher(EngineParts parts, LeaseBook book, Runner runner) {
        this.store = parts.store();
        this.settings = parts.settings();
        this.book = book;
        this.runner = runner;
        this.control = parts.control();
        this.unhandled = parts.unhandled();
        this.driver = parts.driver();
        this.random = parts.random();
        this.live = parts.live();
        this.rules = new FlowRules(settings.queues(), live);
        this.typeLimits = new TypeLimits(settings, live);
        this.totals = parts.totals();
        this.orders = new QueueOrders(store, live);
        this.outage = new OutageRest("fetcher", random);
        this.types = Set.copyOf(parts.handlers().types());
        this.finder = new QueueFinder(store, driver, random, "", settings.offers());
    }

    @Override
    public String name() {
        return "fetcher";
    }

    @Override
    public Duration step() {
        if (settings.onlyHandled() && types.isEmpty()) {
            return UNTIL_WOKEN;
        }
        if (!control.isReady()) {
            return FIRST_POLL;
        }
        int ahead = runner.pace().ahead();
        // A handler that ignores its interrupt keeps its thread, so no job is claimed for that thread.
        int capacity = concurrency() - runner.stuck() + ahead;
        int free = capacity - book.open();
        // Runs fetched ahead keep the threads busy. The fetcher waits until half of them have started, so that
        // the next batch is large.
        if (free < Math.max(1, ahead / 2)) {
            return UNTIL_WOKEN;
        }
        try {
            int claimed = claim(free);
            outage.worked();
            return rest(claimed, free);
        } catch (StoreException e) {
            return outage.failed(e);
        }
    }

    /** Makes the fetcher look again after this delay, when a job becomes due. */
    public void wakeAfter(Duration delay) {
        if (delay.compareTo(MAX_EXPECTED_DELAY) > 0) {
            return;
        }
        long due = driver.nanos() + delay.toNanos();
        if (nextDueNanos.getAndAccumulate(due, Math::min) > due) {
            driver.wake(this);
        }
    }

    /** Claims from the configured queues, or from all queues if none is configured. */
    private int claim(int free) {
        if (nextDueNanos.get() <= driver.nanos()) {
            nextDueNanos.set(NEVER);
        }
        List<Claim> claims = settings.queues().isEmpty()
                ? finder.claim(
                        free,
                        (names, left, each) ->
                                claim(names.stream().map(Queue::of).toList(), left, each))
                : claim(withNeeds(ordered(settings.queues())), free, free);
        return claims.stream().mapToInt(claim -> claim.jobs().size()).sum();
    }

    /** Adds the queues beside these whose jobs need what this worker offers, as far as jobs are due there. */
    private List<Queue> withNeeds(List<Queue> queues) {
        if (settings.offers().isEmpty()) {
            return queues;
        }
        List<Queue> all = new ArrayList<>();
        for (Queue queue : queues) {
            // Those that fewer workers can run come first.
            QueueFinder.beside(store, queue.name(), settings.offers())
                    .forEach(name -> all.add(
                            new Queue(name, queue.weight(), queue.concurrency(), queue.policy(), queue.groups())));
            all.add(queue);
        }
        return all;
    }

    /** Claims queue by queue if the worker limits types: each claim must know what those before it took. */
    private List<Claim> claim(List<Queue> queues, int free, int each) {
        if (queues.size() < 2 || typeLimits.now().isEmpty()) {
            return claimTogether(queues, free, each);
        }
        List<Claim> claims = new ArrayList<>();
        int left = free;
        for (Queue queue : queues) {
            List<Claim> some = left > 0 ? claimTogether(List.of(queue), left, each) : List.of();
            claims.addAll(some);
            left -= some.stream().mapToInt(claim -> claim.jobs().size()).sum();
        }
        return claims;
    }

    private List<Claim> claimTogether(List<Queue> queues, int free, int each) {
        long before = driver.nanos();
        Set<String> leftOut = unhandled.leftToOthers();
        Set<String> own = types;
        if (!leftOut.isEmpty()) {
            own = new HashSet<>(types);
            own.removeAll(leftOut);
        }
        if (settings.onlyHandled() && own.isEmpty()) {
            return List.of();
        }
        ClaimRequest request = new ClaimRequest(
                settings.name(),
                settings.timing().lease(),
                free,
                demands(queues, Math.min(free, each)),
                settings.retryShare(),
                book.suspects(),
                settings.onlyHandled() ? own : leftOut,
                !settings.onlyHandled() && !leftOut.isEmpty(),
                false);
        orders.lineUp(request);
        List<Claim> claims = store.claim(request);
        for (Claim claim : claims) {
            // Measured before the request, so the lease in the store ends later than this.
            List<Run> runs =
                    book.add(claim, before, before + settings.timing().lease().toNanos());
            runner.pace().claimed(claim.jobs());
            tellReady(claim.jobs());
            rules.started(claim, totals);
            runner.accept(runs, claim.claimedAt(), before);
        }
        return claims;
    }

    private static void tellReady(List<Job> jobs) {
        if (log.isDebugEnabled()) {
            long retries = jobs.stream().filter(job -> job.attempts() > 0).count();
            if (retries > 0) {
                log.debug(
                        "Tasks ready for retry: {} in queue {}",
                        retries,
                        jobs.get(0).queue());
            }
        }
    }

    private List<Demand> demands(List<Queue> queues, int each) {
        List<Demand> demands = new ArrayList<>();
        Map<String, Integer> rooms = typeLimits.rooms(book);
        for (Queue queue : queues) {
            Integer limit = queue.concurrency();
            int wanted = limit == null ? each : Math.min(each, limit - book.open(queue.name()));
            if (wanted > 0) {
                GroupRules shared = rules.of(queue.name());
                demands.add(new Demand(queue.name(), wanted, rooms.isEmpty() ? shared : shared.taking(rooms)));
            }
        }
        return demands;
    }

    /** Draws a new order at each claim. A queue of weight 3 comes first three times as often as a queue of weight 1. */
    private List<Queue> ordered(List<Queue> queues) {
        if (settings.strictOrder() || queues.size() < 2) {
            return queues;
        }
        record Ranked(double rank, Queue queue) {}
        return queues.stream()
                .map(queue -> new Ranked(Math.pow(random.nextDouble(), 1.0 / queue.weight()), queue))
                .sorted(Comparator.comparingDouble(Ranked::rank).reversed())
                .map(Ranked::queue)
                .toList();
    }

    private Duration rest(int claimed, int free) {
        if (claimed >= free) {
            poll = FIRST_POLL;
            return Duration.ZERO;
        }
        if (claimed > 0) {
            poll = FIRST_POLL;
            return untilDue(FIRST_POLL);
        }
        // The finder may have postponed a search for other queues. The next step comes as soon
        // as that search is allowed.
        Duration look = finder.rest();
        Duration now = untilDue(look.isZero() || look.compareTo(poll) > 0 ? poll : look);
        Duration doubled = poll.multipliedBy(2);
        Duration most = longestPoll();
        poll = doubled.compareTo(most) < 0 ? doubled : most;
        return now;
    }

    private Duration longestPoll() {
        Duration told = live.now().defaults().poll();
        Duration longest = told == null ? settings.timing().poll() : told;
        return rules.longestRest(settings.queues())
                .filter(rest -> rest.compareTo(longest) < 0)
                .orElse(longest);
    }

    /** Threads and places were made for the number that the worker was started with, so it is never exceeded. */
    private int concurrency() {
        Integer told = live.now().defaults().concurrency();
        return told == null ? settings.concurrency() : Math.min(told, settings.concurrency());
    }

    private Duration untilDue(Duration most) {
        long due = nextDueNanos.get();
        if (due == NEVER) {
            return most;
        }
        long left = Math.max(0, due - driver.nanos());
        return left < most.toNanos() ? Duration.ofNanos(left) : most;
    }
}
