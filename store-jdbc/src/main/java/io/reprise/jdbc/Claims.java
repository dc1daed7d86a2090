// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import io.reprise.store.Settlement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Leases due jobs. Each database has its own way; what they share is how a batch is split. */
interface Claims {

    List<Claim> claim(ClaimRequest request);

    /** Queues with live jobs. */
    Set<String> liveQueues();

    DueQueues dueQueues(String after, String before, int looks);

    /** Told when there is work: no need to look for it first. */
    default void woken() {}

    /** Told of settlements other than successes: jobs may be where they were claimed from, or among the suspects. */
    default void settled(List<Settlement> settlements) {}

    /** Told that parked jobs are back in their lanes, with the due times they had. */
    default void unparked() {}

    /** What rounding keeps back from the retries of a queue, paid out by later batches. Thread-safe. */
    final class RetryCredit {

        /** Beyond this all is forgotten: names of queues are free to make. */
        private static final int MOST = 10_000;

        private final Map<String, Double> credits = new ConcurrentHashMap<>();

        /** How many of a batch are kept for retries. */
        int of(String queue, int batch, double share) {
            double credit = credits.getOrDefault(queue, 0.0) + batch * share;
            return (int) Math.min(batch, Math.floor(credit + 1e-9));
        }

        void claimed(String queue, int batch, double share) {
            if (batch == 0) {
                return;
            }
            if (credits.size() >= MOST) {
                credits.clear();
            }
            credits.compute(queue, (name, old) -> {
                double credit = (old == null ? 0 : old) + batch * share;
                return credit - Math.floor(credit + 1e-9);
            });
        }
    }
}
