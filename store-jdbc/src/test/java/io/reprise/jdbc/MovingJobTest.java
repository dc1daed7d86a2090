// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.store.Claim;
import io.reprise.store.Requeue;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What others see of a job while it goes from table to table and back. */
@Timeout(600)
class MovingJobTest {

    private static final int ROUNDS = 300;
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static Postgres postgres;
    private static JdbcJobStore store;

    @BeforeAll
    static void open() {
        postgres = new Postgres();
        store = postgres.store();
    }

    @AfterAll
    static void close() {
        THREADS.shutdownNow();
        postgres.close();
    }

    @BeforeEach
    void empty() {
        postgres.empty();
    }

    private static void failAndRequeue(JobId id) {
        Requeue replay = new Requeue("replay", Duration.ZERO, null, true, 0, Requeue.Edit.NONE);
        for (int i = 0; i < ROUNDS; i++) {
            Claim claim = store.claim(TestClaims.upTo(1).build()).get(0);
            store.settle(List.of(TestSettlements.fail(claim, claim.jobs().get(0))), List.of(claim.token()));
            store.requeue(id, replay, new AuditNote("ada", null));
        }
    }

    @Test
    void it_is_always_found_once() throws Exception {
        JobId id = store.insert(List.of(JobSpec.builder("work", "1").build()))
                .get(0)
                .id();
        Future<?> mover = THREADS.submit(() -> failAndRequeue(id));
        while (!mover.isDone()) {
            assertThat(store.find(id)).isPresent();
            assertThat(store.find(JobQuery.all()).items()).hasSize(1);
        }
        mover.get();
    }

    @Test
    void it_is_replaced_or_refused_or_made_anew() throws Exception {
        JobSpec spec = JobSpec.builder("work", "1").key("k", KeyRule.REPLACE).build();
        Future<?> writer = THREADS.submit(() -> {
            for (int i = 0; i < ROUNDS; i++) {
                try {
                    store.insert(List.of(spec));
                } catch (DuplicateKeyException e) {
                    assertThat(e).hasMessageContaining("k");
                }
            }
        });
        while (!writer.isDone()) {
            for (Claim claim : store.claim(TestClaims.upTo(1).build())) {
                store.settle(List.of(TestSettlements.success(claim, claim.jobs().get(0))), List.of(claim.token()));
            }
        }
        writer.get();
    }
}
