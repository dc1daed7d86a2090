// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import io.reprise.store.Settlement;
import java.util.List;
import java.util.Set;

/** Leases due jobs. Each database has its own implementation; all of them share {@link io.reprise.store.RetryShare}. */
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
}
