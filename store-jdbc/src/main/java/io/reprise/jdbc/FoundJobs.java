// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.ClaimRequest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Jobs of some types that a scan found and no claim has taken yet. Such a scan steps over all jobs of other types. So a
 * slow scan serves several claims, and the next scan waits: scans take a small part of the time, however many jobs of
 * other types there are. A claim must check that a job from here still waits. Thread-safe.
 */
final class FoundJobs {

    /** A scan quicker than this runs at each claim. */
    private static final Duration QUICK = Duration.ofMillis(20);

    /** A slow scan is followed by a pause of this many times its length. */
    private static final int SHARE = 10;

    /** Beyond this number everything is dropped: users can create any number of queues. */
    private static final int MOST = 1_000;

    /** The jobs that were found in one queue, in the order of claims. */
    static final class Stock {

        private final Deque<Long> fresh = new ArrayDeque<>();
        private final Deque<Long> retries = new ArrayDeque<>();
        private long restUntil;
        private boolean plenty;

        void add(long id, boolean retry) {
            (retry ? retries : fresh).add(id);
        }

        /**
         * Takes up to {@code max} jobs, of which {@code kept} are reserved for retries. Either kind fills the
         * room that the other leaves.
         */
        List<Long> take(int max, int kept) {
            int again = Math.min(max, Math.max(kept, max - fresh.size()));
            List<Long> taken = new ArrayList<>();
            for (int i = 0; i < again && !retries.isEmpty(); i++) {
                taken.add(retries.poll());
            }
            while (taken.size() < max && !fresh.isEmpty()) {
                taken.add(fresh.poll());
            }
            return taken;
        }

        int size() {
            return fresh.size() + retries.size();
        }

        private boolean isUsed(long nanos) {
            return nanos - restUntil >= 0 || (plenty && fresh.isEmpty() && retries.isEmpty());
        }
    }

    private record Key(String queue, Set<String> types, boolean others) {}

    private final Map<Key, Stock> stocks = new HashMap<>();

    /** Returns the queues that may be scanned and have no found jobs left. */
    synchronized List<String> toLookAt(ClaimRequest request, List<String> queues, long nanos) {
        return queues.stream()
                .filter(queue -> {
                    Stock stock = stocks.get(key(request, queue));
                    return stock == null || stock.isUsed(nanos);
                })
                .toList();
    }

    /**
     * Notes a scan of these queues.
     *
     * @param plenty whether there may be more jobs than were found
     */
    synchronized void looked(
            ClaimRequest request, List<String> queues, Map<String, Stock> found, boolean plenty, long from, long to) {
        if (stocks.size() > MOST) {
            stocks.clear();
        }
        long took = to - from;
        for (String queue : queues) {
            Stock stock = found.getOrDefault(queue, new Stock());
            stock.plenty = plenty;
            stock.restUntil = took > QUICK.toNanos() ? to + SHARE * took : to;
            stocks.put(key(request, queue), stock);
        }
    }

    synchronized boolean has(ClaimRequest request, String queue) {
        Stock stock = stocks.get(key(request, queue));
        return stock != null && stock.size() > 0;
    }

    synchronized List<Long> take(ClaimRequest request, String queue, int max, int kept) {
        Stock stock = stocks.get(key(request, queue));
        return stock == null ? List.of() : stock.take(max, kept);
    }

    private static Key key(ClaimRequest request, String queue) {
        return new Key(queue, request.types(), request.others());
    }
}
