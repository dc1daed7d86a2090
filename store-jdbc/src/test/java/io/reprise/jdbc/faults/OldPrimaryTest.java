// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcStoreBuilder;
import io.reprise.jdbc.JdbcTransaction;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.store.Claim;
import io.reprise.store.Requeue;
import io.reprise.store.StoreException;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import io.reprise.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A primary that was frozen, and goes on beside the one that took its place, also tells nobody "no". */
@Timeout(600)
class OldPrimaryTest {

    private static final AuditNote NOTE = new AuditNote("test", null);
    private static final Requeue REPLAY = new Requeue("replay", Duration.ZERO, null, true, 0, Requeue.Edit.NONE);
    private static final JobId NOBODY = new JobId(987_654_321);

    private final List<CompletableFuture<?>> answers = new ArrayList<>();

    @Test
    void who_asks_it_for_what_it_can_only_refuse_is_not_answered() {
        try (Pair servers = new Pair()) {
            PostgresServer former = servers.primary();
            Claim claim;
            try (JdbcJobStore old = patient().poolSize(30).open(servers.plainUrlOf(former))) {
                old.prepare();
                JobId done = ended(old, "done");
                old.insert(List.of(spec("twice").idempotencyKey("twice").build()));
                old.insert(List.of(spec("alone").key("alone", KeyRule.KEEP).build()));
                old.insert(List.of(spec("later").build()));
                former.pause();
                servers.failOver();
                former.resume();

                try (JdbcJobStore store = patient().open(servers.plainUrlOf(servers.primary()))) {
                    claim = store.claim(TestClaims.upTo(1).from("later").build())
                            .get(0);
                    ask(old, servers.plainUrlOf(former), claim, done);
                    awaitCommits(former);
                    former.kill();
                    answers.forEach(OldPrimaryTest::failed);
                    // What it would have denied is true.
                    List<Long> tokens = List.of(claim.token());
                    assertThat(store.renew("worker-1", tokens, TestClaims.LONG).lost())
                            .isEmpty();
                    assertThat(store.settle(List.of(TestSettlements.success(claim, job(claim))), tokens)
                                    .stale())
                            .isEmpty();
                }
            }
        }
    }

    private void ask(JdbcJobStore old, String url, Claim claim, JobId done) {
        List<Long> tokens = List.of(claim.token());
        ask(() -> old.settle(List.of(TestSettlements.success(claim, job(claim))), List.of()));
        ask(() -> old.settle(List.of(TestSettlements.retry(claim, job(claim), Duration.ZERO)), List.of()));
        ask(() -> old.settle(List.of(TestSettlements.fail(claim, job(claim))), List.of()));
        ask(() -> old.settle(List.of(), tokens));
        ask(() -> old.renew("worker-1", tokens, TestClaims.LONG));
        ask(() -> old.cancel(NOBODY, NOTE));
        ask(() -> old.cancel(done, NOTE));
        ask(() -> old.requeue(NOBODY, REPLAY, NOTE));
        ask(() -> old.requeue(done, REPLAY, NOTE));
        ask(() -> old.discard(NOBODY, NOTE));
        ask(() -> old.removeSchedule("none"));
        ask(() -> old.pauseSchedule("none", true, NOTE));
        ask(() -> old.insert(List.of(spec("twice").idempotencyKey("twice").build())));
        for (KeyRule rule : List.of(KeyRule.KEEP, KeyRule.REJECT)) {
            JobSpec same = spec("alone").key("alone", rule).build();
            ask(() -> old.insert(List.of(same)));
        }
        JobSpec same = spec("alone").key("alone", KeyRule.KEEP).build();
        ask(() -> {
            try (Connection connection = DriverManager.getConnection(url)) {
                connection.setAutoCommit(false);
                old.within(JdbcTransaction.of(connection)).insert(List.of(same));
                connection.commit();
                return same;
            } catch (SQLException e) {
                throw new StoreException("The transaction was not committed", e);
            }
        });
    }

    private void ask(Callable<?> call) {
        CompletableFuture<Object> answer = new CompletableFuture<>();
        answers.add(answer);
        Thread thread = new Thread(() -> {
            try {
                answer.complete(String.valueOf(call.call()));
            } catch (Throwable e) {
                answer.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    /** Each of the calls must come so far, and no further. */
    private void awaitCommits(PostgresServer former) {
        while (former.waitingForStandby() < answers.size()) {
            assertThat(answers).as("calls that waited").noneMatch(CompletableFuture::isDone);
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
        assertThat(answers).as("calls that wait").noneMatch(CompletableFuture::isDone);
    }

    private static void failed(CompletableFuture<?> answer) {
        assertThat(answer.handle((told, failure) ->
                                failure instanceof CompletionException ? failure.getCause() : failure)
                        .join())
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.isTransient()).isTrue());
    }

    /** Nothing is too late but what the old primary makes so. */
    private static JdbcStoreBuilder patient() {
        return JdbcJobStore.builder().timeout(Duration.ofMinutes(8));
    }

    private static JobSpec.Builder spec(String queue) {
        return JobSpec.builder("work", "1").queue(queue);
    }

    private static Job job(Claim claim) {
        return claim.jobs().get(0);
    }

    private static JobId ended(JdbcJobStore store, String queue) {
        store.insert(List.of(spec(queue).build()));
        Claim claim = store.claim(TestClaims.upTo(1).from(queue).build()).get(0);
        assertThat(store.settle(List.of(TestSettlements.success(claim, job(claim))), List.of(claim.token()))
                        .stale())
                .isEmpty();
        return job(claim).id();
    }
}
