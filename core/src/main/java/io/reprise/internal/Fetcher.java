// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Queue;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/** Claims work for free slots, and a little ahead of them. */
final class Fetcher implements Role {

    private static final Duration FIRST_POLL = Duration.ofMillis(20);
    private static final Duration UNTIL_WOKEN = Duration.ofSeconds(10);
    /** What is due later than this the polls will find in time. */
    private static final Duration FAR = Duration.ofHours(1);

    /** How long a known list of queues serves while there is plenty of work. */
    private static final Duration LOOK_AROUND = Duration.ofSeconds(1);

    private static final int CLAIMS_PER_LOOK = 4;
    private static final long NEVER = Long.MAX_VALUE;

    private final JobStore store;
    private final WorkerSettings settings;
    private final LeaseBook book;
    private final Runner runner;
    private final Control control;
    private final Driver driver;
    private final RandomGenerator random;
    private final OutageRest outage;
    private final Set<String> types;
    private final AtomicLong nextDueNanos = new AtomicLong(NEVER);
    private Duration poll = FIRST_POLL;
    private Set<String> names = Set.of();
    private List<Queue> found = List.of();
    private long lookedNanos;
    private int claimsSinceLook = CLAIMS_PER_LOOK;

    Fetcher(EngineParts parts, LeaseBook book, Runner runner) {
        this.store = parts.store();
        this.settings = parts.settings();
        this.book = book;
        this.runner = runner;
        this.control = parts.control();
        this.driver = parts.driver();
        this.random = parts.random();
        this.outage = new OutageRest("fetcher", random);
        this.types = Set.copyOf(parts.handlers().types());
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
        // A handler that ignores its interrupt keeps its thread: nothing may be claimed for that.
        int capacity = settings.concurrency() - runner.stuck() + ahead;
        int free = capacity - book.open();
        // With jobs fetched ahead nothing stands idle yet, so waiting for half of them to go makes for large batches.
        if (free < Math.max(1, ahead / 2)) {
            return UNTIL_WOKEN;
        }
        try {
            int claimed = claim(free);
            if (claimed == 0 && findsQueues()) {
                claimed = claim(free);
            }
            outage.worked();
            return rest(claimed, free);
        } catch (StoreException e) {
            return outage.failed(e);
        }
    }

    /** A job of this worker's queues becomes due after this delay: look then. */
    void expect(Duration delay) {
        if (delay.compareTo(FAR) > 0) {
            return;
        }
        long due = driver.nanos() + delay.toNanos();
        if (nextDueNanos.getAndAccumulate(due, Math::min) > due) {
            driver.wake(this);
        }
    }

    private int claim(int free) {
        long before = driver.nanos();
        if (nextDueNanos.get() <= before) {
            nextDueNanos.set(NEVER);
        }
        ClaimRequest request = new ClaimRequest(
                settings.name(),
                settings.timing().lease(),
                free,
                demands(free),
                settings.retryShare(),
                !book.holdsSuspect(),
                settings.onlyHandled() ? types : Set.of());
        int claimed = 0;
        for (Claim claim : store.claim(request)) {
            // Counted from before the request: the store's lease cannot end earlier than this.
            List<Run> runs =
                    book.add(claim, before, before + settings.timing().lease().toNanos());
            claimed += runs.size();
            runner.pace().claimed(claim.jobs());
            runner.accept(runs, claim.claimedAt(), before);
        }
        return claimed;
    }

    private List<Demand> demands(int free) {
        List<Demand> demands = new ArrayList<>();
        for (Queue queue : ordered(served())) {
            Integer limit = queue.concurrency();
            int wanted = limit == null ? free : Math.min(free, limit - book.open(queue.name()));
            if (wanted > 0) {
                demands.add(new Demand(queue.name(), wanted));
            }
        }
        return demands;
    }

    /** The configured queues, or all that were there a moment ago. */
    private List<Queue> served() {
        if (!settings.queues().isEmpty()) {
            return settings.queues();
        }
        boolean stale = ++claimsSinceLook >= CLAIMS_PER_LOOK || driver.nanos() - lookedNanos > LOOK_AROUND.toNanos();
        if (stale) {
            findsQueues();
        }
        return found;
    }

    /** Whether there are others than before: looked up after the known ones gave nothing, so that work is not kept waiting. */
    private boolean findsQueues() {
        if (!settings.queues().isEmpty()) {
            return false;
        }
        Set<String> before = names;
        names = store.liveQueues();
        found = names.stream().map(Queue::of).toList();
        lookedNanos = driver.nanos();
        claimsSinceLook = 0;
        return !before.containsAll(names);
    }

    /** By weight, the queue to look at first is drawn anew each time: a queue of weight 3 comes first thrice as often. */
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
        Duration now = untilDue(poll);
        Duration doubled = poll.multipliedBy(2);
        poll = doubled.compareTo(settings.timing().poll()) < 0
                ? doubled
                : settings.timing().poll();
        return now;
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
