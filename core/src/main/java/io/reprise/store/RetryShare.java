// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How a batch is split between fresh jobs and retries, for those who write stores. It carries the fraction of a job that
 * rounding kept back from the retries of a queue; later batches pay it out. Thread-safe.
 *
 * @since 0.1.0
 */
public final class RetryShare {

    /** Beyond this number all fractions are dropped: users can create any number of queues. */
    private static final int MAX_QUEUES = 10_000;

    private final Map<String, Double> credits = new ConcurrentHashMap<>();

    /** Creates a share without fractions. */
    public RetryShare() {}

    /**
     * Returns how many jobs of a batch are kept for retries. A second call returns the same until a batch is claimed.
     *
     * @param share as in {@link ClaimRequest#retryShare}
     */
    public int kept(String queue, int batch, double share) {
        double credit = credits.getOrDefault(queue, 0.0) + batch * share;
        return (int) Math.min(batch, Math.floor(credit + 1e-9));
    }

    /**
     * Carries over what a claimed batch leaves of the share.
     *
     * @param jobs jobs in the batch; 0 changes nothing
     */
    public void claimed(String queue, int jobs, double share) {
        if (jobs == 0) {
            return;
        }
        if (credits.size() >= MAX_QUEUES) {
            credits.clear();
        }
        credits.compute(queue, (name, old) -> {
            double credit = (old == null ? 0 : old) + jobs * share;
            return credit - Math.floor(credit + 1e-9);
        });
    }

    /**
     * Returns how many retries a batch takes: those that are kept for them, or the room that fresh jobs leave if that is
     * more. Fresh jobs fill the rest.
     *
     * @param fresh fresh jobs that are due
     * @param retries retries that are due
     * @param room jobs in the batch at most
     * @param kept the answer of {@link #kept}
     */
    public static int retries(int fresh, int retries, int room, int kept) {
        return Math.min(Math.min(retries, room), Math.max(kept, room - fresh));
    }
}
