// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.JobSpec.Needs;
import io.reprise.store.ClaimRequest;
import io.reprise.store.DueQueues;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Jobs with needs wait in queues of their own beside the queue that they name, and a pause of the named queue holds for
 * them too. The claims know only the queues in which jobs wait. So this class asks first, in one more statement, which of
 * the named queues are paused. A claim that begins after a pause has ended takes nothing from the queues beside it.
 */
public final class NamedPauses {

    // Reads rows by the primary key.
    private static final String PAUSED = """
            select name
              from reprise_queue
             where name {in ?} and paused_at is not null
            """;

    private NamedPauses() {}

    /** Returns the request without queues beside a paused one. */
    public static ClaimRequest without(Database database, ClaimRequest request) {
        Set<String> paused = paused(
                database,
                request.demands().stream().map(ClaimRequest.Demand::queue).toList());
        return paused.isEmpty()
                ? request
                : request.of(
                        request.demands().stream()
                                .filter(demand -> !paused.contains(Needs.base(demand.queue())))
                                .toList(),
                        request.max(),
                        request.suspects());
    }

    /** Returns the page without queues beside a paused one. */
    public static DueQueues without(Database database, DueQueues page) {
        Set<String> paused = paused(database, page.queues());
        return paused.isEmpty()
                ? page
                : new DueQueues(
                        page.queues().stream()
                                .filter(queue -> !paused.contains(Needs.base(queue)))
                                .toList(),
                        page.last());
    }

    private static Set<String> paused(Database database, List<String> queues) {
        String[] named = queues.stream()
                .filter(queue -> !Needs.of(queue).isEmpty())
                .map(Needs::base)
                .distinct()
                .toArray(String[]::new);
        return named.length == 0
                ? Set.of()
                : database
                        .read(
                                "look for pauses",
                                session -> session.list(session.dialect().sql(PAUSED), SqlRow::text, (Object) named))
                        .stream()
                        .collect(Collectors.toSet());
    }
}
