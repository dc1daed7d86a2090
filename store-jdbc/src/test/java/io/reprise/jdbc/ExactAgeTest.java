// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.store.Claim;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Retention at a moment that stands still. */
@Timeout(600)
class ExactAgeTest {

    private static final long SECOND = 2_000_000_000;

    private static Connection standingStill(MariaDb mariadb) {
        Connection connection = mariadb.connection();
        try (Statement statement = connection.createStatement()) {
            statement.execute("set timestamp = " + SECOND);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
        return connection;
    }

    @Test
    void a_dead_letter_of_exactly_the_age_is_left_to_the_next_upkeep() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (MariaDb mariadb = new MariaDb()) {
            JdbcJobStore store = mariadb.store();
            store.insert(List.of(JobSpec.builder("work", "1").build()));
            Claim claim = store.claim(TestClaims.upTo(1).build()).get(0);
            store.settle(List.of(TestSettlements.fail(claim, claim.jobs().get(0))), List.of(claim.token()));
            mariadb.execute("update reprise_finished set finished_at = " + (SECOND - 60) * 1_000_000);
            try (JdbcJobStore still =
                    JdbcJobStore.mysql(Interrupted.before("", 0, () -> standingStill(mariadb), () -> {}))) {
                Future<Integer> pruned =
                        thread.submit(() -> still.prune(Set.of(JobState.FAILED), Duration.ofSeconds(60), 10));
                assertThat(pruned.get(LockWaits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .isZero();
                assertThat(still.prune(Set.of(JobState.FAILED), Duration.ofSeconds(59), 10))
                        .isEqualTo(1);
            }
        } finally {
            thread.shutdownNow();
        }
    }
}
