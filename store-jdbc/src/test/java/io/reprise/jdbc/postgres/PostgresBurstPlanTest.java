// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.reprise.jdbc.Postgres;
import io.reprise.jdbc.sql.Pool;
import io.reprise.testkit.servers.Patience;

/** The same when all of them came at once, and PostgreSQL knew only that the table had become empty. */
class PostgresBurstPlanTest extends PostgresPlanTest {

    @Override
    void before(Postgres database) {
        database.execute("alter table reprise_job set (autovacuum_enabled = false)");
        database.execute("""
                insert into reprise_job (id, due_at, first_due_at, created_at, lane, priority, queue, type, wait_reason, payload)
                select -n, 1, 1, 1, 0, 0, 'default', 'work', 'NEW', '{}' from generate_series(1, 10000) n
                """);
        database.execute("delete from reprise_job");
        database.execute("vacuum analyze reprise_job");
    }

    @Override
    void after(Postgres database) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.source());
        config.setMaximumPoolSize(1);
        HikariDataSource pool = new HikariDataSource(config);
        try (PostgresDatabase ours = new PostgresDatabase(Pool.own(pool), Pool.own(pool), 30, false)) {
            TableStatistics statistics = new TableStatistics(ours);
            // The session that filled it reports its statistics when it ends.
            Patience.until(statistics::renew);
            assertThat(statistics.renew()).as("again").isFalse();
        }
    }
}
