// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcStoreBuilder;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.store.Claim;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.testkit.Slow;
import io.reprise.testkit.faults.Work;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestSettlements;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A standby takes the place of a primary that died, or that was only thought to have. */
@Timeout(1_800)
class FailoverTest {

    /** Calls that an old primary does not answer before the test goes on. */
    private static final int MISLED = 10;

    @TempDir
    private Path directory;

    @Test
    void the_primary_is_killed_under_load_and_the_standby_takes_over() {
        int times = FaultRun.times(1, 10);
        try (Pair servers = new Pair();
                FaultRun run = new FaultRun(directory, servers.url())) {
            run.load().start();
            for (int i = 0; i < 3; i++) {
                run.startWorker();
            }
            run.awaitProgress(40);
            for (int i = 1; i <= times; i++) {
                servers.primary().kill();
                servers.failOver();
                run.awaitProgress(40);
                if (i < times) {
                    servers.restore();
                    run.awaitProgress(40);
                }
            }
            run.drainAndCheck(times + " failovers");
        }
    }

    @Slow
    @Test
    void workers_leave_a_primary_that_stands_still_and_what_it_says_later_is_not_heard() {
        try (Pair servers = new Pair();
                FaultRun run = new FaultRun(directory, servers.url())) {
            run.load().start();
            run.startWorker();
            run.startWorker();
            run.awaitProgress(40);
            PostgresServer old = servers.primary();
            old.pause();
            servers.failOver();
            run.awaitProgress(40);
            run.awaitStart(run.load().insist(Work.HELD));
            // It goes on, and does not know that it is no longer the primary. Nor do workers that must connect again,
            // since it comes first in their URL: now they ask the old one about what they hold by the new one.
            old.resume();
            run.until("commits on the old primary that wait for a standby", () -> {
                boolean some = old.waitingForStandby() >= MISLED;
                if (!some) {
                    servers.primary().endSessions();
                }
                return some;
            });
            old.kill();
            run.release();
            run.drainAndCheck("A primary that stood still and went on");
        }
    }

    @Slow
    @Test
    void an_old_primary_that_still_runs_acknowledges_nothing() {
        try (Pair servers = new Pair()) {
            PostgresServer former = servers.primary();
            JobId claimable;
            JobId held;
            Claim claim;
            try (JdbcJobStore patient = JdbcJobStore.open(servers.plainUrlOf(former));
                    JdbcJobStore old = limited().open(servers.urlOf(former));
                    JdbcJobStore polling = limited().pollOnly().open(servers.urlOf(former))) {
                patient.prepare();
                held = insert(patient, "held");
                claim = patient.claim(TestClaims.upTo(1).from("held").build()).get(0);
                claimable = insert(patient, "claimable");
                servers.failOver();

                Settlement success = TestSettlements.success(claim, claim.jobs().get(0));
                refused(
                        () -> insert(old, "new"),
                        () -> insert(polling, "polled"),
                        () -> old.insert(Collections.nCopies(1_000, spec("bulk"))),
                        () -> old.claim(TestClaims.upTo(1).from("claimable").build()),
                        () -> old.settle(List.of(success), List.of()));
                assertThat(patient.find(held).orElseThrow().state()).isEqualTo(JobState.RUNNING);
            }
            former.kill();
            try (JdbcJobStore store = JdbcJobStore.open(servers.plainUrlOf(servers.primary()))) {
                assertThat(store.queues()).extracting(queue -> queue.name()).containsExactly("claimable", "held");
                assertThat(store.find(held).orElseThrow().state()).isEqualTo(JobState.RUNNING);
                Claim next = store.claim(TestClaims.upTo(1).from("claimable").build())
                        .get(0);
                assertThat(next.jobs().get(0).id()).isEqualTo(claimable);
                assertThat(next.token()).isGreaterThan(claim.token());
            }
        }
    }

    /** Its limit is reached long before its caller gives up, so that there is time to cancel what should not be. */
    private static JdbcStoreBuilder limited() {
        return JdbcJobStore.builder().timeout(Duration.ofSeconds(1));
    }

    private static JobSpec spec(String queue) {
        return JobSpec.builder("work", "1").queue(queue).build();
    }

    private static JobId insert(JdbcJobStore store, String queue) {
        return store.insert(List.of(spec(queue))).get(0).id();
    }

    /** All at once, since each takes as long as its caller waits. */
    private static void refused(Supplier<?>... calls) {
        List<CompletableFuture<?>> answers = new ArrayList<>();
        for (Supplier<?> call : calls) {
            answers.add(CompletableFuture.supplyAsync(call, task -> new Thread(task, "refused").start()));
        }
        for (CompletableFuture<?> answer : answers) {
            assertThat(answer)
                    .failsWithin(Duration.ofMinutes(5))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOfSatisfying(
                            StoreException.class,
                            e -> assertThat(e.isTransient()).isTrue());
        }
    }
}
