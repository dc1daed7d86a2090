// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.LostClaim;
import io.reprise.store.Requeue;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a newer version wrote, and this one cannot read, must not keep jobs from running. */
class NewerVersionTest {

    private static final JobSpec SPEC = JobSpec.builder("work", "1")
            .key("k", KeyRule.REJECT)
            .policy(RetryPolicy.unset().maxAttempts(3))
            .build();

    @TempDir
    Path directory;

    private interface Check {
        void on(JdbcJobStore store, Consumer<String> sql);
    }

    /** The check runs on a store that has read nothing yet. */
    private void onBoth(Check check) {
        try (Postgres postgres = new Postgres();
                JdbcJobStore store = JdbcJobStore.postgresql(postgres.source())) {
            check.on(store, postgres::execute);
        }
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore store = JdbcJobStore.sqlite(file)) {
            store.prepare();
            check.on(store, sql -> Sqlite.execute(file, sql));
        }
    }

    private static List<Claim> claim(JdbcJobStore store, Duration lease) {
        ClaimRequest request = TestClaims.upTo(10).lease(lease).build();
        return store.claim(request);
    }

    @Test
    void a_policy_that_cannot_be_read_leaves_the_job_to_the_worker() {
        onBoth((store, sql) -> {
            JobId id = store.insert(List.of(SPEC)).get(0).id();
            sql.accept("update reprise_policy set json = '{\"maxAttempts\":3,\"aFieldOfTheNextVersion\":1}'");
            List<Claim> claims = claim(store, Duration.ZERO);
            assertThat(TestClaims.ids(claims)).containsExactly(id);
            assertThat(TestClaims.jobs(claims).get(0).spec().policy()).isEqualTo(RetryPolicy.unset());
            List<LostClaim> lost = store.takeOver("taker", TestClaims.LONG, 10);
            assertThat(lost).hasSize(1);
            assertThat(store.find(id)).isPresent();
            assertThat(store.find(JobQuery.all()).items()).hasSize(1);
            Claim taken = lost.get(0).claim();
            store.settle(List.of(TestSettlements.fail(taken, taken.jobs().get(0))), List.of(taken.token()));
            Requeue replay = new Requeue("replay", Duration.ZERO, null, true, 0, Requeue.Edit.NONE);
            store.requeue(id, replay, new AuditNote("ada", null));
            // Nothing of it is cached, and the job still names it.
            sql.accept("update reprise_policy set json = '" + SPEC.policy().toJson() + "'");
            assertThat(store.find(id).orElseThrow().spec().policy()).isEqualTo(SPEC.policy());
        });
    }

    @Test
    void a_policy_that_is_gone_leaves_the_job_to_the_worker() {
        onBoth((store, sql) -> {
            JobId id = store.insert(List.of(SPEC)).get(0).id();
            sql.accept("delete from reprise_policy");
            assertThat(TestClaims.ids(claim(store, TestClaims.LONG))).containsExactly(id);
        });
    }

    @Test
    void unknown_words_are_read_as_known_ones() {
        onBoth((store, sql) -> {
            JobId id = store.insert(List.of(SPEC)).get(0).id();
            sql.accept("update reprise_job set wait_reason = 'QUANTUM', key_rule = 'QUANTUM'");
            Job waiting = store.find(id).orElseThrow();
            assertThat(waiting.status().waitReason()).isEqualTo(WaitReason.DELAYED);
            assertThat(waiting.spec().keyRule()).isEqualTo(KeyRule.KEEP);
            assertThat(TestClaims.ids(claim(store, Duration.ZERO))).containsExactly(id);
            Claim taken = store.takeOver("taker", TestClaims.LONG, 10).get(0).claim();
            store.settle(List.of(TestSettlements.fail(taken, taken.jobs().get(0))), List.of(taken.token()));
            sql.accept("update reprise_attempt set ending = 'QUANTUM', decision_class = 'QUANTUM',"
                    + " decision_reason = 'QUANTUM', failure_class = 'QUANTUM'");
            assertThat(store.attempts(id)).hasSize(1);
            for (String table : List.of("reprise_finished", "reprise_job")) {
                if (store.find(id).orElseThrow().failReason() != FailReason.PERMANENT) {
                    tryUpdate(sql, table);
                }
            }
            assertThat(store.find(id).orElseThrow().failReason()).isEqualTo(FailReason.PERMANENT);
        });
    }

    /** Only one of the two layouts has the first table. */
    private static void tryUpdate(Consumer<String> sql, String table) {
        try {
            sql.accept("update " + table + " set fail_reason = 'QUANTUM' where state = 'FAILED'");
        } catch (AssertionError e) {
            assertThat(e).hasMessageContaining("no such table");
        }
    }
}
