// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.testkit.fixture.TestClaims;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What others do between two statements of one action on MySQL or MariaDB. */
@Timeout(600)
class MySqlBetweenTest {

    private static final AuditNote NOTE = new AuditNote("ada", null);
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static final JobSpec SPEC = JobSpec.builder("work", "1").build();
    private static final Requeue NOW = new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE);
    private static MariaDb mariadb;
    private static JdbcJobStore store;

    @BeforeAll
    static void open() {
        mariadb = new MariaDb();
        store = mariadb.store();
    }

    @AfterAll
    static void close() {
        THREADS.shutdownNow();
        mariadb.close();
    }

    @BeforeEach
    void empty() {
        mariadb.empty();
    }

    private static JdbcJobStore before(String text, int nth, Runnable action) {
        return JdbcJobStore.mysql(Interrupted.before(text, nth, mariadb::connection, action));
    }

    private static JobId add(JobSpec.Builder spec) {
        return store.insert(List.of(spec.build())).get(0).id();
    }

    private static JobSpec.Builder spec() {
        return SPEC.toBuilder();
    }

    @Test
    void a_job_that_changes_its_level_during_a_look_is_claimed_once() {
        JobId moved = add(spec().priority(5));
        JobId other = add(spec().priority(0));
        Runnable lower = () -> mariadb.execute("update reprise_job set priority = 0");
        try (JdbcJobStore slow = before("and j.due_at >=", 2, lower)) {
            assertThat(TestClaims.ids(
                            slow.claim(TestClaims.upTo(10).types("work").build())))
                    .containsExactly(moved, other);
        }
    }

    @Test
    void a_job_that_is_put_back_does_not_expire_at_the_same_time() {
        JobId id = add(spec().policy(RetryPolicy.unset().deadline(Duration.ofNanos(1_000))));
        try (JdbcJobStore slow = before("delete from reprise_job where id", 1, () -> store.expire(10))) {
            assertThat(slow.requeue(id, NOW, NOTE).result()).isEqualTo(RequeueResult.Result.DONE);
        }
        assertThat(store.find(JobQuery.all()).items()).hasSize(1);
        assertThat(store.find(id).orElseThrow().state()).isEqualTo(JobState.PENDING);
    }
}
