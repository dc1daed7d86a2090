// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.internal.engine.Driver;
import io.reprise.store.Claim;
import io.reprise.store.DueQueues;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
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
 * queue that becomes due while others are busy is found a little later. Thread-safe.
 */
final class QueueFinder {

    /** Claims from these queues, in this order. */
    interface Ask {
        List<Claim> claim(List<String> queues, int wanted);
    }

    /** Queues that one search looks at. */
    static final int MAX_SEARCHED_QUEUES = 500;

    /** Queues that were found due and that one claim asks. */
    private static final int ASKED = 100;

    /** Queues that are asked without a search, because they gave jobs lately. */
    private static final int RECENT = 20;

    private static final Duration IS_RECENT = Duration.ofSeconds(30);

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
    private final String end;

    /** When queues last gave jobs, the earliest first. */
    private final Map<String, Long> recent = new LinkedHashMap<>();

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

    /** Earliest time for a round while there is no work. */
    private long nextRoundNanos;

    private long roundNanos;

    /**
     * Creates a finder for queues whose names begin with the prefix.
     *
     * @param prefix of their names; empty for all queues
     */
    QueueFinder(JobStore store, Driver driver, RandomGenerator random, String prefix) {
        this.store = store;
        this.driver = driver;
        this.random = random;
        this.prefix = prefix;
        this.end = prefix.isEmpty() ? DueQueues.END : following(prefix);
        this.after = prefix;
        this.nextLookNanos = driver.nanos();
        this.nextRoundNanos = driver.nanos();
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
        if (left <= 0 && isTimeToLook(false)) {
            // The next claim asks the queues that this search finds: a queue that is never empty
            // must not hide the others.
            look(round, false);
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
        List<Claim> some = ask.claim(names, wanted);
        claims.addAll(some);
        int got = some.stream().mapToInt(claim -> claim.jobs().size()).sum();
        answered(names, some, got >= wanted);
        return got;
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
        for (String name : gave) {
            recent.remove(name);
            recent.put(name, now);
        }
        if (full) {
            int last = 0;
            for (int i = 0; i < names.size(); i++) {
                last = gave.contains(names.get(i)) ? i + 1 : last;
            }
            List<String> passed = names.subList(last, names.size()).stream()
                    .filter(name -> !recent.containsKey(name))
                    .toList();
            for (int i = passed.size() - 1; i >= 0; i--) {
                found.addFirst(passed.get(i));
            }
            passedOver += passed.size();
        }
        recent.values().removeIf(nanos -> now - nanos > IS_RECENT.toNanos());
        while (recent.size() > RECENT) {
            // The queue may have more jobs: a later search finds it again.
            recent.remove(recent.keySet().iterator().next());
        }
    }

    private synchronized List<String> known() {
        int first = Math.min(passedOver, ASKED);
        List<String> due = takeFound();
        first = Math.min(first, due.size());
        Set<String> others = new LinkedHashSet<>(recent.keySet());
        others.addAll(due.subList(first, due.size()));
        others.removeAll(due.subList(0, first));
        List<String> drawn = new ArrayList<>(others);
        for (int i = drawn.size(); i > 1; i--) {
            Collections.swap(drawn, i - 1, random.nextInt(i));
        }
        List<String> names = new ArrayList<>(due.subList(0, first));
        names.addAll(drawn);
        return names;
    }

    private synchronized List<String> takeFound() {
        List<String> some = new ArrayList<>();
        while (some.size() < ASKED && !found.isEmpty()) {
            some.add(found.pollFirst());
        }
        passedOver = Math.max(0, passedOver - some.size());
        return some;
    }

    private synchronized String after() {
        return after;
    }

    private synchronized boolean isTimeToLook(boolean idle) {
        return !found.isEmpty() || driver.nanos() - (idle ? nextRoundNanos : nextLookNanos) >= 0;
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
        if (hasFound()) {
            return;
        }
        long began = driver.nanos();
        DueQueues page = store.dueQueues(after(), end, MAX_SEARCHED_QUEUES);
        scanned(page, driver.nanos() - began, round, idle);
    }

    private synchronized boolean hasFound() {
        return !found.isEmpty();
    }

    private synchronized void scanned(DueQueues page, long took, Round round, boolean idle) {
        page.queues().stream().filter(name -> !recent.containsKey(name)).forEach(found::addLast);
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
}
