// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import io.reprise.jdbc.sql.Session;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;

/** Writes the outcomes of claims, on the store's connection or a caller's. */
public interface JobSettlements {

    /** Jobs are locked in this order everywhere, so that two batches do not deadlock. */
    Comparator<Settlement> LOCK_ORDER = Comparator.comparing(Settlement::job).thenComparingLong(Settlement::token);

    /** Writes outcomes, at most one for each job. It does not store follow-up jobs. */
    Settled settle(Session session, List<Settlement> settlements, LeaseClosing closing) throws SQLException;

    /** Whether one statement writes the batch, so that no transaction is needed around it. */
    boolean isOneStatement(List<Settlement> settlements);
}
