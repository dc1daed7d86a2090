// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Writes outcomes of claims, on the store's connection or a caller's. */
interface Settlements {

    /** Jobs are locked in this order everywhere, so that no two batches wait for each other. */
    Comparator<Settlement> LOCK_ORDER = Comparator.comparing(Settlement::job).thenComparingLong(Settlement::token);

    Settled settle(Session session, List<Settlement> settlements, Collection<Long> closing) throws SQLException;

    /** Whether the batch is written by one statement, which needs no transaction around it. */
    boolean isOneStatement(List<Settlement> settlements);
}
