// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.Postgres;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** So many jobs with unique keys that COPY stores them. */
@Timeout(300)
class KeyedCopyTest {

    private static final int JOBS = 1_000;

    private final Postgres postgres = new Postgres();
    private final JdbcJobStore store = postgres.store();
    private final ExecutorService thread = Executors.newSingleThreadExecutor();

    @BeforeEach
    void empty() {
        postgres.empty();
    }

    @AfterEach
    void close() {
        thread.shutdownNow();
        postgres.close();
    }

    private static JobSpec spec(int number) {
        return JobSpec.builder("work", "" + number)
                .key("key-" + number, KeyRule.KEEP)
                .build();
    }

    private static List<JobSpec> specs() {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < JOBS; i++) {
            specs.add(spec(i));
        }
        return specs;
    }

    private long number(String query) {
        return Long.parseLong(postgres.query(query).get(0));
    }

    @Test
    void keys_that_are_held_are_answered_with_their_holders_and_the_others_are_stored() {
        JobId holder = store.insert(List.of(spec(7))).get(0).id();
        List<Enqueued> stored = store.insert(specs());
        assertThat(stored.get(7).id()).isEqualTo(holder);
        assertThat(stored).filteredOn(Enqueued::created).hasSize(JOBS - 1);
        for (int i = 0; i < JOBS; i += 111) {
            assertThat(store.find(stored.get(i).id()).orElseThrow().spec().payload())
                    .isEqualTo("" + i);
        }
        assertThat(store.insert(specs())).noneMatch(Enqueued::created);
        assertThat(number("select count(*) from reprise_job")).isEqualTo(JOBS);
    }

    @Test
    void a_key_that_another_transaction_takes_meanwhile_is_stored_once() throws Exception {
        try (Connection other = postgres.connection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("""
                    insert into reprise_job (id, due_at, first_due_at, created_at, priority, queue, type, wait_reason, payload, unique_key, key_rule)
                    values (1000000000, 1, 1, 1, 0, 'default', 'work', 'NEW', 'other', 'key-500', 'KEEP')
                    """);
            Future<List<Enqueued>> copying = thread.submit(() -> store.insert(specs()));
            until(() -> number("select count(*) from pg_locks where not granted") > 0);
            other.commit();
            List<Enqueued> stored = copying.get();
            assertThat(stored.get(500))
                    .extracting(Enqueued::id, Enqueued::created)
                    .containsExactly(new JobId(1_000_000_000), false);
            assertThat(stored).filteredOn(Enqueued::created).hasSize(JOBS - 1);
        }
        assertThat(number("select count(*) from reprise_job")).isEqualTo(JOBS);
        assertThat(number("select count(distinct unique_key) from reprise_job")).isEqualTo(JOBS);
    }
}
