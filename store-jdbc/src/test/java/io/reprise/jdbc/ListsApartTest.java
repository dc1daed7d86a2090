// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.sql.Database;
import io.reprise.job.JobQuery;
import io.reprise.store.Claim;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.servers.Patience;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Lists that take long keep no connection from those who claim jobs and renew leases. */
class ListsApartTest implements StoreFixture {

    private static final int LISTS = 6;

    private final Postgres postgres = new Postgres();
    private final JobStore store = JdbcJobStore.builder().poolSize(2).postgresql(postgres.source());

    @Override
    public JobStore store() {
        return store;
    }

    /** A list gives up after a while. If one did before the engine was through, it is not known whom the engine waited for. */
    @Test
    void an_engine_works_while_all_lists_wait() throws Exception {
        try (postgres;
                store) {
            boolean apart = false;
            for (int tries = 0; tries < 10 && !apart; tries++) {
                apart = worksWhileListsWait();
            }
            assertThat(apart)
                    .as("whether the engine was ever through before a list gave up")
                    .isTrue();
        }
    }

    private boolean worksWhileListsWait() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(LISTS);
        try (Connection other = postgres.connection()) {
            lockFinishedJobs(other);
            List<Future<Boolean>> lists = new ArrayList<>();
            for (int i = 0; i < LISTS; i++) {
                lists.add(threads.submit(this::list));
            }
            Patience.until(() -> waiting() == Database.SEARCH_CONNECTIONS);
            add(TestJobs.spec("work"));
            Claim claim = claimOne(TestClaims.upTo(1));
            assertThat(store.renew("worker-1", List.of(claim.token()), Duration.ofHours(1))
                            .lost())
                    .isEmpty();
            boolean apart = lists.stream().noneMatch(Future::isDone);
            other.rollback();
            for (Future<Boolean> list : lists) {
                list.get();
            }
            return apart;
        } finally {
            threads.shutdownNow();
        }
    }

    /** Ends with an answer, or because it took too long. */
    private boolean list() {
        try {
            return store.find(JobQuery.all()).items().isEmpty();
        } catch (StoreException e) {
            return false;
        }
    }

    private static void lockFinishedJobs(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("lock table reprise_finished in access exclusive mode");
        }
    }

    private int waiting() {
        return postgres.query("select pid from pg_stat_activity where wait_event_type = 'Lock'"
                        + " and datname = current_database()")
                .size();
    }
}
