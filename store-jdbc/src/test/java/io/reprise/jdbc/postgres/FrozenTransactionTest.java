// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import io.reprise.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** A process that was frozen inside a transaction, while others go on. */
class FrozenTransactionTest {

    @Test
    void what_it_has_locked_is_free_again_long_before_a_statement_may_end() throws Exception {
        Duration patience = Duration.ofHours(1);
        DataSource source = PostgresServer.shared().freshDatabase();
        try (JdbcJobStore store = JdbcJobStore.builder().timeout(patience).postgresql(source);
                Connection frozen = source.getConnection();
                Statement statement = frozen.createStatement()) {
            store.prepare();
            store.insert(List.of(JobSpec.builder("a", "{}").build()));
            Claim claim = store.claim(new ClaimRequest(
                            "w",
                            Duration.ofHours(2),
                            1,
                            List.of(new ClaimRequest.Demand(JobSpec.DEFAULT_QUEUE, 1)),
                            0.2,
                            true))
                    .get(0);
            statement.execute(PostgresDatabase.settings(patience));
            frozen.setAutoCommit(false);
            statement.execute("select id from reprise_lease for update");
            // From here on nothing is heard of it.
            Settlement success = new Settlement(
                    claim.jobs().get(0).id(),
                    claim.token(),
                    CountedAs.ATTEMPT,
                    Duration.ZERO,
                    new Settlement.Succeed(null),
                    null,
                    null);
            CompletableFuture<Boolean> settled = CompletableFuture.supplyAsync(
                    () -> store.settle(List.of(success)).stale().isEmpty());
            assertThat(settled.get(10, TimeUnit.MINUTES)).isTrue();
            assertThat(frozen.isValid(60)).as("the server has ended it").isFalse();
        }
    }
}
