// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

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
 * Claims for those who serve every queue there is, at a cost that does not grow with the number of queues. Queues that gave
 * jobs of late are asked at each claim. The others are looked at in turn, some at a time, and asked if the look found
 * something due. Looks that find nothing take a small part of the time only, so a queue that becomes due while others
 * are busy is found a little later the more queues there are. Thread-safe.
 */
final class QueueFinder {

    /** Claims from these queues, in this order. */
    interface Ask {
        List<Claim> claim(List<String> queues, int wanted);
    }

    /** Queues that one look looks at. */
    static final int LOOKS = 500;

    /** Queues that were found due and are asked at once. */
    private static final int ASKED = 100;

    /** Queues that are asked without a look, for they gave jobs of late. */
    private static final int RECENT = 20;

    private static final Duration IS_RECENT = Duration.ofSeconds(30);

    /** While there is work, looks that find nothing take no more than one in so many parts of the time. */
    private static final int SHARE = 20;

    /** The same while there is none: then nobody waits for the worker. */
    private static final int IDLE_SHARE = 5;

    /** A round as quick as this is made at each claim that finds nothing. */
    private static final Duration QUICK = Duration.ofMillis(2);

    /** One claim looks no longer than this: what it has is held under leases. */
    private static final Duration SLICE = Duration.ofMillis(200);

    private final JobStore store;
    private final Driver driver;
    private final RandomGenerator random;
    private final String prefix;
    private final String end;

    /** When queues last gave jobs, the longest ago first. */
    private final Map<String, Long> recent = new LinkedHashMap<>();

    /** Queues that a look found due and that were not asked yet. */
    private final Deque<String> found = new ArrayDeque<>();

    /** How many of them, the first ones, a large queue kept from being asked: they come first the next time. */
    private int passedOver;

    private String after;
    /** When a look may be made beside work. */
    private long nextLookNanos;

    /** When all queues may be looked at because there is no work. */
    private long nextRoundNanos;

    private long roundNanos;

    /**
     * For queues whose names begin so.
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

    /** The least text that is greater than all that begin so. */
    private static String following(String prefix) {
        int last = prefix.length() - 1;
        return prefix.substring(0, last) + (char) (prefix.charAt(last) + 1);
    }

    /** Up to so many jobs; none only if no queue has some, or if it was looked for a moment ago. */
    List<Claim> claim(int wanted, Ask ask) {
        long sliceEnd = driver.nanos() + SLICE.toNanos();
        List<Claim> claims = new ArrayList<>();
        int left = wanted - ask(known(), wanted, ask, claims);
        Round round = new Round(after());
        if (left <= 0 && isTimeToLook(false)) {
            // The next claim asks what this finds: a queue that is never empty must not keep the others from being
            // found.
            look(round, false);
        }
        while (left > 0 && !round.isOver && isTimeToLook(claims.isEmpty()) && driver.nanos() - sliceEnd < 0) {
            look(round, claims.isEmpty());
            left -= ask(takeFound(), left, ask, claims);
        }
        return claims;
    }

    /** How long a claim would not look for more queues than it knows. */
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
     * Remembers who gave something.
     *
     * @param full whether all that was wanted came: then the last ones were not asked
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
            // It may have more: it is found again in its turn.
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

    /** All queues once, from a place on and around. */
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
        DueQueues page = store.dueQueues(after(), end, LOOKS);
        looked(page, driver.nanos() - began, round, idle);
    }

    private synchronized boolean hasFound() {
        return !found.isEmpty();
    }

    private synchronized void looked(DueQueues page, long took, Round round, boolean idle) {
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
