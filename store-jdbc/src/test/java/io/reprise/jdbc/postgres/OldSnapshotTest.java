// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.Postgres;
import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Claims beside a transaction that keeps the server from removing anything. */
class OldSnapshotTest {

    private static final int BATCH = 500;

    private static List<Claim> claim(JdbcJobStore store) {
        return store.claim(new ClaimRequest(
                "worker",
                Duration.ofMinutes(1),
                BATCH,
                List.of(new ClaimRequest.Demand(JobSpec.DEFAULT_QUEUE, BATCH)),
                0.2,
                true));
    }

    private static void settle(JdbcJobStore store, Claim claim) {
        List<Settlement> successes = claim.jobs().stream()
                .map(job -> new Settlement(
                        job.id(),
                        claim.token(),
                        CountedAs.ATTEMPT,
                        Duration.ZERO,
                        new Settlement.Succeed(null),
                        null,
                        null))
                .toList();
        assertThat(store.settle(successes, List.of(claim.token())).stale()).isEmpty();
    }

    @Test
    void every_job_is_claimed_exactly_once_beside_an_old_snapshot() throws SQLException {
        try (Postgres postgres = new Postgres();
                Connection holder = postgres.connection()) {
            JdbcJobStore store = postgres.store();
            holder.setAutoCommit(false);
            holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            holder.createStatement().execute("select count(*) from reprise_job");
            int claimed = 0;
            for (int round = 0; round < 20; round++) {
                store.insert(Collections.nCopies(
                        BATCH, JobSpec.builder("work", "{}").priority(round % 3).build()));
                for (Claim claim : claim(store)) {
                    claimed += claim.jobs().size();
                    settle(store, claim);
                }
            }
            // What the cursor passed over waits for the next look from the start.
            long end = System.nanoTime() + Duration.ofMinutes(5).toNanos();
            while (claimed < 20 * BATCH && System.nanoTime() < end) {
                for (Claim claim : claim(store)) {
                    claimed += claim.jobs().size();
                    settle(store, claim);
                }
            }
            assertThat(claimed).isEqualTo(20 * BATCH);
            assertThat(claim(store)).isEmpty();
            holder.rollback();
        }
    }

    @Test
    void a_server_that_does_not_tell_is_taken_to_hold_none() {
        assertThat(new OldSnapshot(new Silent()).isHeld(OldSnapshot.QUICK_NANOS))
                .isFalse();
    }

    /** Refuses to be read. */
    private static final class Silent implements Database {

        @Override
        public Dialect dialect() {
            return new PostgresDialect();
        }

        @Override
        public <T> T read(String what, Work<T> work) {
            throw new StoreException("permission denied", new SQLException());
        }

        @Override
        public <T> T look(String what, Work<T> work) {
            throw new StoreException("permission denied", new SQLException());
        }

        @Override
        public <T> T write(String what, Refusal<T> refusal, Work<T> work) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T> T send(String what, Refusal<T> refusal, Work<T> work) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <T> T join(CallersConnection transaction, String what, Refusal<T> refusal, Work<T> work) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long repeats() {
            return 0;
        }

        @Override
        public void close() {}
    }
}
