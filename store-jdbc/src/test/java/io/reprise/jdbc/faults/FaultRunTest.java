// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.history.HistoryEvent.Kind;
import io.reprise.testkit.faults.Tempo;
import io.reprise.testkit.faults.Work;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The check bites: damage done behind the store's back is found. */
@Timeout(600)
class FaultRunTest {

    @TempDir
    private Path directory;

    private void run(String damage, String found) throws SQLException {
        Path file = directory.resolve("jobs.db");
        // What calls with short limits failed to learn would excuse the damage.
        try (FaultRun run = new FaultRun(directory, "sqlite:" + file, Tempo.SLOW);
                Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            for (int i = 0; i < 5; i++) {
                run.load().insist(Work.QUICK);
            }
            run.load().insist(Work.TRANSACTIONAL);
            run.startWorker().await(Kind.ENDED, 6);
            run.awaitDone();
            statement.execute("pragma busy_timeout = 300000");
            statement.execute(damage);
            assertThatThrownBy(() -> run.drainAndCheck(damage)).hasMessageContaining(found);
        }
    }

    @Test
    void a_job_that_vanished() throws SQLException {
        run("delete from reprise_job where id = 3", "Job 3 was acknowledged and is not in the store");
    }

    @Test
    void an_attempt_that_was_not_made() throws SQLException {
        run("update reprise_job set attempts = 2 where id = 2", "Job 2 has other counters");
    }

    @Test
    void an_effect_that_happened_twice() throws SQLException {
        run("insert into effect (job) select job from effect", "6L, 6L");
    }
}
