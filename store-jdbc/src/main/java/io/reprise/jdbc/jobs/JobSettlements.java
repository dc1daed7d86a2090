// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Session;
import io.reprise.job.JobId;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes the outcomes of claims, on the store's connection or a caller's. */
public interface JobSettlements {

    /** Jobs are locked in this order everywhere, so that two batches do not deadlock. */
    Comparator<Settlement> LOCK_ORDER = Comparator.comparing(Settlement::job).thenComparingLong(Settlement::token);

    /** Writes outcomes, at most one for each job. It does not store follow-up jobs. */
    Settled settle(Session session, List<Settlement> settlements, LeaseClosing closing) throws SQLException;

    /** Whether one statement writes the batch, so that no transaction is needed around it. */
    boolean isOneStatement(List<Settlement> settlements);

    /**
     * Returns one settlement per job, the settlement with the greatest token, because smaller tokens are dead.
     *
     * @param stale gets the jobs that had several
     */
    static List<Settlement> newest(List<Settlement> settlements, Set<JobId> stale) {
        Map<JobId, Settlement> newest = new LinkedHashMap<>();
        for (Settlement settlement : settlements) {
            Settlement other = newest.putIfAbsent(settlement.job(), settlement);
            if (other != null) {
                stale.add(settlement.job());
                if (other.token() < settlement.token()) {
                    newest.put(settlement.job(), settlement);
                }
            }
        }
        return stale.isEmpty() ? settlements : List.copyOf(newest.values());
    }
}
