// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.Requeue;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job replayed for ever with its counters reset keeps a bounded history. */
class HistoryTest {

    private static final String ROWS = "select count(*) from reprise_attempt";

    @TempDir
    Path directory;

    private static void replayOften(JdbcJobStore store) {
        JobId id = store.insert(List.of(JobSpec.builder("work", "1").build()))
                .get(0)
                .id();
        Requeue replay = new Requeue("replay", Duration.ZERO, null, true, 0, Requeue.Edit.NONE);
        for (int i = 0; i < 10; i++) {
            Claim claim = store.claim(TestClaims.upTo(1).build()).get(0);
            store.settle(List.of(TestSettlements.fail(claim, claim.jobs().get(0))), List.of(claim.token()));
            store.requeue(id, replay, new AuditNote("ada", null));
        }
        assertThat(store.attempts(id)).hasSize(3);
    }

    @Test
    void on_postgresql() {
        try (Postgres postgres = new Postgres();
                JdbcJobStore store = JdbcJobStore.builder().keepAttempts(3).postgresql(postgres.source())) {
            replayOften(store);
            assertThat(postgres.query(ROWS)).containsExactly("3");
        }
    }

    @Test
    void on_mariadb() {
        try (MariaDb mariadb = new MariaDb();
                JdbcJobStore store = JdbcJobStore.builder().keepAttempts(3).open(mariadb.url())) {
            replayOften(store);
            assertThat(mariadb.query(ROWS)).containsExactly("3");
        }
    }

    @Test
    void on_sqlite() {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.builder().keepAttempts(3).sqlite(file)) {
            store.prepare();
            replayOften(store);
            assertThat(Sqlite.query(file, ROWS)).containsExactly("3");
        }
    }
}
