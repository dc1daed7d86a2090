// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.internal.control.LiveSettings;
import io.reprise.job.JobSpec.Needs;
import io.reprise.settings.ClaimOrder;
import io.reprise.settings.QueueSettings;
import io.reprise.store.ClaimRequest;
import io.reprise.store.JobStore;
import java.util.Map;

/**
 * Puts due retries in line with fresh jobs before a claim, in queues whose order is not by share. So the claim itself
 * knows no orders. {@link Fetcher} and {@link RemoteRuns} call it.
 */
final class QueueOrders {

    /** More wait for the next claim. A claim takes at most twice as many jobs. */
    private static final int MAX_JOBS = 2_000;

    private final JobStore store;
    private final LiveSettings live;

    QueueOrders(JobStore store, LiveSettings live) {
        this.store = store;
        this.live = live;
    }

    void lineUp(ClaimRequest request) {
        Map<String, QueueSettings> queues = live.now().queues();
        if (queues.isEmpty()) {
            return;
        }
        for (ClaimRequest.Demand demand : request.demands()) {
            QueueSettings named = queues.getOrDefault(Needs.base(demand.queue()), QueueSettings.NONE);
            ClaimOrder order = queues.getOrDefault(demand.queue(), named).order();
            if (order == ClaimOrder.PRIORITY || order == ClaimOrder.CREATION) {
                int unused = store.lineUp(demand.queue(), order == ClaimOrder.CREATION, MAX_JOBS);
            }
        }
    }
}
