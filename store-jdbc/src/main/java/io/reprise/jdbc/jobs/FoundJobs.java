// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.store.ClaimRequest;
import io.reprise.store.RetryShare;
import io.reprise.store.Settlement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Jobs of some types that a look found and nobody was given yet. One look serves several claims: as many as find enough here
 * within a moment, unless somebody says that jobs were added. A look passes all jobs of other types that come first, so after
 * one that took long the next waits: looks take a small part of the time, however many jobs there are that nobody asked for.
 * Of several threads that need a look one looks and the others wait for what it finds. Who takes a job from here has to
 * check that it still waits. Thread-safe.
 */
public final class FoundJobs {

    /** Jobs that one look finds at most. */
    static final int MOST_FOUND = 1_000;

    /** After a look that took longer than this the next one waits. */
    private static final Duration QUICK = Duration.ofMillis(20);

    /** A slow scan is followed by a pause of this many times its length. */
    private static final int SHARE = 10;

    /** How long found jobs are used. A job that falls due in this time is seen that much later. */
    private static final Duration FRESH = Duration.ofMillis(100);

    /** A look finds so many times more than the one before if that was used up, and less if it was not. */
    private static final int GROWTH = 4;

    /** Beyond this all is forgotten: names of queues are free to make. */
    private static final int MAX_QUEUES = 1_000;

    /** The jobs that were found in one queue, in the order of claims. */
    public static final class Stock {

        private final Deque<Long> fresh = new ArrayDeque<>();
        private final Deque<Long> retries = new ArrayDeque<>();

        private final Map<Long, Runnable> whenTaken = new HashMap<>();

        /** A look takes several statements. It finds a job twice that changes its place meanwhile. */
        private final Set<Long> added = new HashSet<>();

        /** Adds a job. The action runs when the job is taken from here. */
        public void add(long id, boolean retry, Runnable taken) {
            if (add(id, retry)) {
                whenTaken.put(id, taken);
            }
        }

        /** Adds a job. Returns false if it is here already. */
        public boolean add(long id, boolean retry) {
            return added.add(id) && (retry ? retries : fresh).add(id);
        }

        /**
         * Takes up to {@code max} jobs, of which {@code kept} are reserved for retries. Either kind fills the
         * room that the other leaves.
         */
        public List<Long> take(int max, int kept) {
            int again = RetryShare.retries(fresh.size(), retries.size(), max, kept);
            List<Long> taken = new ArrayList<>();
            for (int i = 0; i < again; i++) {
                taken.add(retries.poll());
            }
            while (taken.size() < max && !fresh.isEmpty()) {
                taken.add(fresh.poll());
            }
            for (Long id : taken) {
                Runnable action = whenTaken.remove(id);
                if (action != null) {
                    action.run();
                }
            }
            return taken;
        }

        public int size() {
            return fresh.size() + retries.size();
        }

        private void remove(Set<Long> ids) {
            fresh.removeAll(ids);
            retries.removeAll(ids);
        }
    }

    /**
     * A look that is to be made.
     *
     * @param queues to look at; none if no look is needed
     * @param jobs to find at most
     * @param stocked whether there are enough here. Another thread may still be faster: then it is worth while to ask again
     */
    public record Plan(List<String> queues, int jobs, boolean stocked) {

        private static final Plan ENOUGH = new Plan(List.of(), 0, true);
        private static final Plan LATER = new Plan(List.of(), 0, false);

        public boolean isNeeded() {
            return !queues.isEmpty();
        }
    }

    /** Found jobs of one queue. */
    private static final class Known {

        private Stock stock = new Stock();

        /** Taken from the stock by threads that have not leased them yet: a look still finds them. */
        private final Set<Long> inHand = new HashSet<>();

        /** Jobs of threads that have leased them or given up since the last look began. */
        private final Set<Long> gone = new HashSet<>();

        private boolean looking;
        private boolean changed = true;
        /** Whether there may be more than was found. */
        private boolean plenty;

        private int jobs;
        private long began;
        private long ended;
        private long restUntil;

        boolean rests(long nanos) {
            return nanos - restUntil < 0 && !(plenty && stock.size() == 0);
        }

        boolean isFresh(long nanos) {
            return rests(nanos) || (!changed && nanos - ended < FRESH.toNanos() && !(plenty && stock.size() == 0));
        }

        boolean wasSlow() {
            return ended - began > QUICK.toNanos();
        }
    }

    private record Key(String queue, Set<String> types, boolean others) {}

    private final LongSupplier clock;
    private final Map<Key, Known> queues = new HashMap<>();

    public FoundJobs() {
        this(System::nanoTime);
    }

    public FoundJobs(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * Returns the queues to look at before this many jobs are taken. Waits for another thread that looks. A caller that must
     * look calls {@link #scanned} or {@link #failed} then.
     */
    public synchronized Plan plan(ClaimRequest request, List<String> names, int wanted) {
        long arrived = clock.getAsLong();
        boolean interrupted = false;
        try {
            while (true) {
                long now = clock.getAsLong();
                Plan without = without(request, names, wanted, now, arrived);
                if (without != null) {
                    return without;
                }
                List<String> due = names.stream()
                        .filter(name -> !known(request, name).rests(now))
                        .toList();
                if (interrupted || due.stream().noneMatch(name -> known(request, name).looking)) {
                    return begin(request, due, wanted, now);
                }
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Why a claim of so many needs no look; null if it does. Queues are asked in order, and the last ones only if the first give
     * too little.
     */
    private @Nullable Plan without(ClaimRequest request, List<String> names, int wanted, long now, long arrived) {
        int left = wanted;
        boolean allSeen = true;
        for (String name : names) {
            Known known = known(request, name);
            boolean seen = known.rests(now) || (!known.looking && !known.plenty && known.began - arrived > 0);
            if (!seen && !known.isFresh(now)) {
                return null;
            }
            left -= known.stock.size();
            if (left <= 0) {
                return Plan.ENOUGH;
            }
            allSeen &= seen;
        }
        return allSeen ? Plan.LATER : null;
    }

    private Plan begin(ClaimRequest request, List<String> names, int wanted, long now) {
        int jobs = wanted;
        int inHand = 0;
        for (String name : names) {
            Known known = known(request, name);
            jobs = Math.max(jobs, next(known, wanted));
            inHand += known.inHand.size();
            known.looking = true;
            known.began = now;
            known.changed = false;
            known.gone.clear();
        }
        // The search finds the taken ones too.
        return new Plan(names, Math.min(jobs + inHand, MOST_FOUND), false);
    }

    private static int next(Known known, int wanted) {
        if (known.jobs > 0 && known.wasSlow()) {
            return MOST_FOUND;
        }
        boolean used = known.stock.size() < wanted;
        return used && known.plenty ? known.jobs * GROWTH : used ? known.jobs : known.jobs / GROWTH;
    }

    /**
     * A look ended.
     *
     * @param plenty whether there may be more jobs than were found
     */
    public synchronized void scanned(ClaimRequest request, Plan plan, Map<String, Stock> found, boolean plenty) {
        long now = clock.getAsLong();
        for (String name : plan.queues) {
            Known known = known(request, name);
            known.stock = found.getOrDefault(name, new Stock());
            known.stock.remove(known.inHand);
            known.stock.remove(known.gone);
            known.plenty = plenty;
            known.jobs = plan.jobs;
            known.ended = now;
            known.restUntil = known.wasSlow() ? now + SHARE * (now - known.began) : now;
            known.looking = false;
        }
        notifyAll();
    }

    /** A look found nothing out. */
    public synchronized void failed(ClaimRequest request, Plan plan) {
        for (String name : plan.queues) {
            Known known = known(request, name);
            known.looking = false;
            known.changed = true;
        }
        notifyAll();
    }

    /** There may be jobs that come before those that were found. */
    public synchronized void changed() {
        queues.values().forEach(known -> known.changed = true);
    }

    /** Jobs that ended change nothing here. Jobs that wait again, or follow others, may come before those that were found. */
    public void settled(List<Settlement> settlements) {
        if (settlements.stream().anyMatch(FoundJobs::addsJobs)) {
            changed();
        }
    }

    private static boolean addsJobs(Settlement settlement) {
        return settlement.next() instanceof Settlement.Wait
                || settlement.next() instanceof Settlement.PutBack
                || !settlement.followUps().isEmpty();
    }

    public synchronized boolean has(ClaimRequest request, String queue) {
        return known(request, queue).stock.size() > 0;
    }

    /** Jobs that one claim takes from here, until they are leased. */
    public final class Taken implements AutoCloseable {

        private final ClaimRequest request;
        private final Map<String, List<Long>> taken = new HashMap<>();

        private Taken(ClaimRequest request) {
            this.request = request;
        }

        /** Up to so many jobs of a queue. */
        public List<Long> take(String queue, int max, int kept) {
            synchronized (FoundJobs.this) {
                Known known = known(request, queue);
                List<Long> some = known.stock.take(max, kept);
                known.inHand.addAll(some);
                taken.computeIfAbsent(queue, name -> new ArrayList<>()).addAll(some);
                return some;
            }
        }

        /** So many of them could be leased. If others had most of them, what was found is of no use: they looked as well. */
        public void leased(String queue, int jobs) {
            synchronized (FoundJobs.this) {
                if (2 * jobs < taken.getOrDefault(queue, List.of()).size()) {
                    Known known = known(request, queue);
                    known.changed = true;
                    known.plenty = false;
                    known.jobs = 0;
                }
            }
        }

        @Override
        public void close() {
            synchronized (FoundJobs.this) {
                taken.forEach((queue, ids) -> {
                    Known known = known(request, queue);
                    ids.forEach(known.inHand::remove);
                    known.gone.addAll(ids);
                });
            }
        }
    }

    public Taken taken(ClaimRequest request) {
        return new Taken(request);
    }

    private Known known(ClaimRequest request, String queue) {
        Key key = new Key(queue, request.types(), request.others());
        Known known = queues.get(key);
        if (known == null) {
            if (queues.size() >= MAX_QUEUES) {
                queues.values().removeIf(each -> !each.looking && each.inHand.isEmpty());
            }
            known = new Known();
            queues.put(key, known);
        }
        return known;
    }
}
