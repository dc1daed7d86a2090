// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.internal.engine.Driver;
import io.reprise.job.JobSpec.Needs;
import io.reprise.store.Claim;
import io.reprise.store.DueQueues;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Claims for a worker that serves every queue, at a cost that does not grow with the number of queues. The
 * {@code Fetcher} has one; {@code RemoteRuns} has one per prefix.
 *
 * <p>Each claim asks the queues that gave jobs lately. A search looks at the other queues in turn, a page at a time,
 * and asks those that have due jobs. Searches that find nothing take a small part of the time. So with more queues, a
 * queue that becomes due while others are busy is found a little later.
 *
 * <p>Tenants take turns across all their queues: the tenant of a queue is the text before the first slash of its name.
 * Each claim begins with the tenant that got least lately, and gives each tenant an equal part. So a tenant with a
 * thousand queues gets no more than one with a single queue. Thread-safe.
 */
final class QueueFinder {

    /** Claims from these queues, in this order. */
    interface Ask {
        /**
         * Claims jobs.
         *
         * @param each jobs of one queue at most
         */
        List<Claim> claim(List<String> queues, int wanted, int each);
    }

    /** Queues that one search looks at. */
    static final int MAX_SEARCHED_QUEUES = 500;

    /** Queues that were found due and that one claim asks. */
    private static final int ASKED = 100;

    /** Queues that are asked without a search, because they gave jobs lately. */
    private static final int RECENT = 20;

    private static final Duration IS_RECENT = Duration.ofSeconds(30);

    /** Found queues that all tenants together have after a search ahead, or little more. */
    private static final int MOST_FOUND = 2 * MAX_SEARCHED_QUEUES;

    /** Time between two searches while there are found queues left: they may all be of one tenant. */
    private static final Duration AHEAD = Duration.ofMillis(200);

    private static final char END_OF_TENANT = '/';

    /** Beyond this number it is forgotten which tenants were served last. Forgetting only costs evenness. */
    private static final int MOST_TENANTS = 10_000;

    /** While there is work, a search that finds nothing is followed by a pause of this many times its length. */
    private static final int SHARE = 20;

    /** While there is no work, a round that finds nothing is followed by a pause of this many times its length. */
    private static final int IDLE_SHARE = 5;

    /** A round quicker than this needs no pause when there is no work. */
    private static final Duration QUICK = Duration.ofMillis(2);

    /** One claim searches no longer than this, because leases already hold the jobs that it has claimed. */
    private static final Duration SLICE = Duration.ofMillis(200);

    private final JobStore store;
    private final Driver driver;
    private final RandomGenerator random;
    private final String prefix;
    private final Set<String> offers;
    private final String end;

    /** When queues last gave jobs, the earliest first. */
    private final Map<String, Long> recent = new LinkedHashMap<>();

    /** Queues among the recent ones that gave nothing when they were last asked. */
    private final Set<String> empty = new HashSet<>();

    /** The tenants that were given jobs, with a number that grows by one for each job. */
    private final Map<String, Long> served = new HashMap<>();

    /** The least number of a tenant that was served lately. Who was away begins there, so nobody saves turns. */
    private long turn;

    /** Queues that a search found due and that no claim has asked yet. */
    private final Deque<String> found = new ArrayDeque<>();

    /**
     * How many queues at the head of {@code found} were not asked, because queues before them filled the claim. The
     * next claim asks them first.
     */
    private int passedOver;

    private String after;

    /** Earliest time for a search while there is work. */
    private long nextLookNanos;

    /** Earliest time for a search while there is work and found queues are left. */
    private long nextAheadNanos;

    /** Earliest time for a round while there is no work. */
    private long nextRoundNanos;

    private long roundNanos;

    /**
     * Creates a finder for queues whose names begin with the prefix.
     *
     * @param prefix of their names; empty for all queues
     * @param offers what the worker offers: queues whose jobs need more are passed by
     */
    QueueFinder(JobStore store, Driver driver, RandomGenerator random, String prefix, Set<String> offers) {
        this.offers = Set.copyOf(offers);
        this.store = store;
        this.driver = driver;
        this.random = random;
        this.prefix = prefix;
        this.end = prefix.isEmpty() ? DueQueues.END : following(prefix);
        this.after = prefix;
        this.nextLookNanos = driver.nanos();
        this.nextAheadNanos = driver.nanos();
        this.nextRoundNanos = driver.nanos();
    }

    /** Returns the queues beside this one that have due jobs whose needs are offered. */
    static List<String> beside(JobStore store, String queue, Set<String> offers) {
        return store.dueQueues(Needs.after(queue), Needs.before(queue), MAX_SEARCHED_QUEUES).queues().stream()
                .filter(name -> Needs.areOffered(name, offers))
                .toList();
    }

    /** Returns the smallest text that is greater than every text with this prefix. */
    private static String following(String prefix) {
        int last = prefix.length() - 1;
        return prefix.substring(0, last) + (char) (prefix.charAt(last) + 1);
    }

    /**
     * Claims up to {@code wanted} jobs. Returns none only if no queue has due jobs, or if the time
     * for a search has not come.
     */
    List<Claim> claim(int wanted, Ask ask) {
        long sliceEnd = driver.nanos() + SLICE.toNanos();
        List<Claim> claims = new ArrayList<>();
        int left = wanted - ask(known(), wanted, ask, claims);
        Round round = new Round(after());
        if (left <= 0 && isTimeToLookAhead()) {
            // The next claim asks the queues that this search finds: a queue that is never empty
            // must not hide the others, nor must a thousand found queues of one tenant.
            search(round, false);
        }
        while (left > 0 && !round.isOver && isTimeToLook(claims.isEmpty()) && driver.nanos() - sliceEnd < 0) {
            look(round, claims.isEmpty());
            left -= ask(takeFound(), left, ask, claims);
        }
        return claims;
    }

    /** How long until a claim would search for more queues. */
    synchronized Duration rest() {
        return Duration.ofNanos(Math.max(0, nextRoundNanos - driver.nanos()));
    }

    private int ask(List<String> names, int wanted, Ask ask, List<Claim> claims) {
        if (names.isEmpty()) {
            return 0;
        }
        List<String> inTurn = inTurn(names);
        long tenants = inTurn.stream().map(this::tenant).distinct().count();
        int each = (int) Math.max(1, (wanted + tenants - 1) / Math.max(1, tenants));
        int got = ask(inTurn, wanted, each, ask, claims);
        if (each < wanted && got > 0 && got < wanted) {
            // What some tenants leave is for those that have more.
            got += ask(inTurn, wanted - got, wanted - got, ask, claims);
        }
        return got;
    }

    private int ask(List<String> names, int wanted, int each, Ask ask, List<Claim> claims) {
        List<Claim> some = ask.claim(names, wanted, each);
        claims.addAll(some);
        int got = some.stream().mapToInt(claim -> claim.jobs().size()).sum();
        answered(names, some, got >= wanted);
        return got;
    }

    private String tenant(String queue) {
        int end = queue.indexOf(END_OF_TENANT, prefix.length());
        return end < 0 ? "" : queue.substring(0, end);
    }

    /**
     * Returns one queue of each tenant, then a second one of each, and so on; the tenant that got least first. Queues that
     * seem to be empty are asked too, but do not stand for their tenant.
     */
    private synchronized List<String> inTurn(List<String> names) {
        Map<String, Deque<String>> tenants = new LinkedHashMap<>();
        for (String name : names) {
            tenants.computeIfAbsent(tenant(name), key -> new ArrayDeque<>()).add(name);
        }
        if (tenants.size() < 2) {
            return names;
        }
        List<String> order = new ArrayList<>(tenants.keySet());
        order.sort(Comparator.comparingLong(tenant -> served.getOrDefault(tenant, 0L)));
        List<String> inTurn = new ArrayList<>();
        while (inTurn.size() < names.size()) {
            for (String tenant : order) {
                Deque<String> queues = tenants.getOrDefault(tenant, new ArrayDeque<>());
                String next;
                do {
                    next = queues.poll();
                    if (next != null) {
                        inTurn.add(next);
                    }
                } while (next != null && empty.contains(next));
            }
        }
        return inTurn;
    }

    /**
     * Remembers the queues that gave jobs.
     *
     * @param full whether the claim got all it wanted: then the store did not ask the last queues
     */
    private synchronized void answered(List<String> names, List<Claim> claims, boolean full) {
        long now = driver.nanos();
        Set<String> gave = new HashSet<>();
        claims.forEach(claim -> gave.add(claim.queue()));
        if (served.size() >= MOST_TENANTS) {
            served.clear();
        }
        count(claims);
        for (String name : gave) {
            recent.remove(name);
            recent.put(name, now);
        }
        int asked = names.size();
        if (full) {
            asked = 0;
            for (int i = 0; i < names.size(); i++) {
                asked = gave.contains(names.get(i)) ? i + 1 : asked;
            }
            List<String> passed = names.subList(asked, names.size()).stream()
                    .filter(name -> !recent.containsKey(name))
                    .toList();
            for (int i = passed.size() - 1; i >= 0; i--) {
                found.addFirst(passed.get(i));
            }
            passedOver += passed.size();
        }
        empty.addAll(names.subList(0, asked));
        empty.removeAll(gave);
        recent.values().removeIf(nanos -> now - nanos > IS_RECENT.toNanos());
        while (recent.size() > RECENT) {
            // The queue may have more jobs: a later search finds it again.
            recent.remove(leastWanted());
        }
        empty.retainAll(recent.keySet());
    }

    /** Counts what tenants were given. So one that got less than its part of a claim gets it of the next. */
    private void count(List<Claim> claims) {
        Map<String, Integer> jobs = new HashMap<>();
        claims.forEach(claim -> jobs.merge(tenant(claim.queue()), claim.jobs().size(), Integer::sum));
        jobs.keySet().stream()
                .mapToLong(tenant -> served.getOrDefault(tenant, 0L))
                .min()
                .ifPresent(least -> turn = Math.max(turn, least));
        jobs.forEach((tenant, got) -> served.put(tenant, Math.max(turn, served.getOrDefault(tenant, 0L)) + got));
    }

    /** The queue that gave jobs longest ago, of the tenant that has most queues here. */
    private String leastWanted() {
        Map<String, Integer> queues = new HashMap<>();
        recent.keySet().forEach(name -> queues.merge(tenant(name), 1, Integer::sum));
        int most = Collections.max(queues.values());
        return recent.keySet().stream()
                .filter(name -> queues.getOrDefault(tenant(name), 0) == most)
                .findFirst()
                .orElseThrow();
    }

    private synchronized List<String> known() {
        int before = passedOver;
        List<String> due = takeFound();
        int first = Math.min(before - passedOver, due.size());
        Set<String> others = new LinkedHashSet<>(recent.keySet());
        others.addAll(due.subList(first, due.size()));
        others.removeAll(due.subList(0, first));
        List<String> drawn = new ArrayList<>(others);
        shuffle(drawn);
        List<String> names = new ArrayList<>(due.subList(0, first));
        names.addAll(drawn);
        return names;
    }

    private synchronized List<String> takeFound() {
        List<String> all = new ArrayList<>(found);
        List<String> inTurn = inTurn(all);
        Set<String> chosen = new HashSet<>(inTurn.subList(0, Math.min(ASKED, inTurn.size())));
        int passed = (int) all.subList(0, Math.min(passedOver, all.size())).stream()
                .filter(chosen::contains)
                .count();
        found.removeIf(chosen::contains);
        passedOver = Math.min(passedOver - passed, found.size());
        return all.stream().filter(chosen::contains).distinct().toList();
    }

    private synchronized String after() {
        return after;
    }

    private synchronized boolean isTimeToLook(boolean idle) {
        return !found.isEmpty() || driver.nanos() - (idle ? nextRoundNanos : nextLookNanos) >= 0;
    }

    private synchronized boolean isTimeToLookAhead() {
        return driver.nanos() - (found.isEmpty() ? nextLookNanos : nextAheadNanos) >= 0;
    }

    /** One pass over all queues, from a given name to the end and from the start back to that name. */
    private static final class Round {
        private final String from;
        private boolean wrapped;
        private boolean isOver;

        Round(String from) {
            this.from = from;
        }
    }

    private void look(Round round, boolean idle) {
        if (!hasFound()) {
            search(round, idle);
        }
    }

    private void search(Round round, boolean idle) {
        long began = driver.nanos();
        DueQueues page = store.dueQueues(after(), end, MAX_SEARCHED_QUEUES);
        scanned(page, driver.nanos() - began, round, idle);
    }

    private synchronized boolean hasFound() {
        return !found.isEmpty();
    }

    private synchronized void scanned(DueQueues page, long took, Round round, boolean idle) {
        add(page.queues().stream()
                .filter(name -> !recent.containsKey(name) && Needs.areOffered(name, offers))
                .toList());
        nextAheadNanos = driver.nanos() + Math.max(took * SHARE, AHEAD.toNanos());
        roundNanos += took;
        String last = page.last();
        boolean ended = last == null;
        after = last == null ? prefix : last;
        round.isOver = round.wrapped ? ended || after.compareTo(round.from) >= 0 : ended && round.from.equals(prefix);
        round.wrapped |= ended;
        if (!found.isEmpty()) {
            return;
        }
        if (!idle) {
            nextLookNanos = driver.nanos() + took * SHARE;
        } else if (round.isOver && roundNanos > QUICK.toNanos()) {
            nextRoundNanos = driver.nanos() + roundNanos * IDLE_SHARE;
        }
        if (round.isOver) {
            roundNanos = 0;
        }
    }

    /** Adds queues to those found before. A tenant that has its part of them gets no more: later searches find the rest. */
    private void add(List<String> queues) {
        if (found.isEmpty()) {
            found.addAll(queues);
            return;
        }
        Set<String> before = new HashSet<>(found);
        Map<String, Integer> had = new HashMap<>();
        found.forEach(name -> had.merge(tenant(name), 1, Integer::sum));
        List<String> drawn = new ArrayList<>(queues);
        drawn.removeIf(before::contains);
        shuffle(drawn);
        for (String name : drawn) {
            String tenant = tenant(name);
            int has = had.getOrDefault(tenant, 0);
            if (has <= MOST_FOUND / (had.size() + 1)) {
                found.addLast(name);
                had.put(tenant, has + 1);
            }
        }
    }

    private void shuffle(List<String> names) {
        for (int i = names.size(); i > 1; i--) {
            Collections.swap(names, i - 1, random.nextInt(i));
        }
    }
}
