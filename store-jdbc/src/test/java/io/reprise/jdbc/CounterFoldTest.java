// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.store.JobStore;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** Changes of counts are put together until none is left, however many came. */
class CounterFoldTest {

    private static final String ADD = "insert into reprise_counter (queue, state, n) values "
            + String.join(", ", Collections.nCopies(3_500, "('busy', 'SUCCEEDED', 2)"));

    @Test
    void on_mariadb() {
        try (MariaDb mariadb = new MariaDb()) {
            mariadb.execute(ADD);
            JobStore store = mariadb.store();
            store.maintain();
            assertThat(mariadb.query("select sum(n) from reprise_counter")).containsExactly("7000");
            assertThat(Integer.parseInt(mariadb.query("select count(*) from reprise_counter")
                            .get(0)))
                    .isLessThan(10);
        }
    }

    @Test
    void on_postgresql() {
        try (Postgres postgres = new Postgres()) {
            postgres.execute(ADD);
            postgres.store().maintain();
            assertThat(postgres.query("select n from reprise_counter")).containsExactly("7000");
        }
    }
}
