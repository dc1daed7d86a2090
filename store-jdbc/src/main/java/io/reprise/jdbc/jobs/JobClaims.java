// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import io.reprise.store.Settlement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Leases due jobs. Each database has its own implementation; all of them share {@link RetryCredit}. */
public interface JobClaims {

    List<Claim> claim(ClaimRequest request);

    /** Returns the queues with live jobs. */
    Set<String> liveQueues();

    DueQueues dueQueues(String after, String before, int looks);

    /** Says that there is work, so that the next claim need not probe first. */
    default void woken() {}

    /** Reports settlements other than successes: jobs may be back where they were claimed, or have become suspects. */
    default void settled(List<Settlement> settlements) {}

    /** Reports that parked jobs are back in their lanes, with their old due times. */
    default void unparked() {}

    /**
     * The fraction of a job that rounding kept back from the retries of a queue. Later batches pay it out. Thread-safe.
     */
    final class RetryCredit {

        /** Beyond this number all fractions are dropped: users can create any number of queues. */
        private static final int MAX_QUEUES = 10_000;

        private final Map<String, Double> credits = new ConcurrentHashMap<>();

        /** Returns how many jobs of a batch are reserved for retries. */
        public int of(String queue, int batch, double share) {
            double credit = credits.getOrDefault(queue, 0.0) + batch * share;
            return (int) Math.min(batch, Math.floor(credit + 1e-9));
        }

        public void claimed(String queue, int batch, double share) {
            if (batch == 0) {
                return;
            }
            if (credits.size() >= MAX_QUEUES) {
                credits.clear();
            }
            credits.compute(queue, (name, old) -> {
                double credit = (old == null ? 0 : old) + batch * share;
                return credit - Math.floor(credit + 1e-9);
            });
        }
    }
}
