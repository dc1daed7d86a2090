// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Cancellation;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.Claim;
import io.reprise.store.LostClaim;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many threads at once: no job is claimed twice, and none is lost. */
public interface ConcurrencyContract extends StoreFixture {

    @Test
    default void each_job_is_claimed_once() {
        List<JobId> ids = add(TestJobs.many(200));
        Collection<JobId> claimed = new ConcurrentLinkedQueue<>();
        Crowd.run(4, worker -> {
            List<Claim> claims = claim(TestClaims.upTo(7).by("worker-" + worker));
            while (!claims.isEmpty()) {
                claimed.addAll(TestClaims.ids(claims));
                claims.forEach(this::succeed);
                claims = claim(TestClaims.upTo(7).by("worker-" + worker));
            }
        });
        assertThat(claimed).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(count("default", JobState.SUCCEEDED)).isEqualTo(200);
    }

    @Test
    default void no_call_fails_while_the_number_of_connections_changes() {
        List<JobId> ids = add(TestJobs.many(100));
        Collection<JobId> claimed = new ConcurrentLinkedQueue<>();
        try {
            Crowd.run(4, worker -> {
                List<Claim> claims = claim(TestClaims.upTo(3).by("worker-" + worker));
                while (!claims.isEmpty()) {
                    store().poolSize(worker == 0 ? Integer.valueOf(2 + claimed.size() % 5) : null);
                    claimed.addAll(TestClaims.ids(claims));
                    claims.forEach(this::succeed);
                    claims = claim(TestClaims.upTo(3).by("worker-" + worker));
                }
            });
        } finally {
            store().poolSize(null);
        }
        assertThat(claimed).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(count("default", JobState.SUCCEEDED)).isEqualTo(100);
    }

    @Test
    default void jobs_inserted_while_others_claim_are_all_run_once() {
        Collection<JobId> claimed = new ConcurrentLinkedQueue<>();
        Collection<JobId> inserted = new ConcurrentLinkedQueue<>();
        Crowd.run(4, worker -> {
            for (int round = 0; round < 20; round++) {
                inserted.addAll(add(TestJobs.many(3)));
                claim(TestClaims.upTo(3)).forEach(claim -> {
                    claim.jobs().forEach(job -> claimed.add(job.id()));
                    succeed(claim);
                });
            }
        });
        List<Claim> rest = claim(TestClaims.upTo(1_000));
        while (!rest.isEmpty()) {
            claimed.addAll(TestClaims.ids(rest));
            rest = claim(TestClaims.upTo(1_000));
        }
        assertThat(claimed).containsExactlyInAnyOrderElementsOf(inserted);
    }

    @Test
    default void of_worker_and_rescuer_exactly_one_settles_a_claim() {
        List<JobId> ids = add(TestJobs.many(40));
        AtomicInteger accepted = new AtomicInteger();
        AtomicInteger losses = new AtomicInteger();
        Crowd.run(4, worker -> {
            for (int round = 0; round < 40; round++) {
                if (worker % 2 == 0) {
                    accepted.addAndGet(runBatch("worker-" + worker));
                } else {
                    losses.addAndGet(rescueOne("rescuer-" + worker));
                }
            }
        });
        await(() -> losses.addAndGet(rescueOne("last")) >= 0 && count("default", JobState.RUNNING) == 0);
        List<Job> jobs = ids.stream().map(this::read).toList();
        assertThat(jobs.stream().mapToInt(Job::attempts).sum()).isEqualTo(accepted.get());
        assertThat(jobs.stream().mapToInt(job -> job.counts().losses()).sum()).isEqualTo(losses.get());
        assertThat(jobs)
                .allSatisfy(job -> assertThat(job.attempts()).isEqualTo(job.state() == JobState.SUCCEEDED ? 1 : 0));
    }

    /** Together they are more than one job may have. */
    @Test
    default void long_steps_of_many_jobs_that_are_read_at_once_come_back_each_to_its_own_job() {
        List<JobId> ids = add(TestJobs.many(8));
        String filling = "x".repeat(StoredStep.MAX_JOB_BYTES / 4);
        for (Claim claim : claim(TestClaims.upTo(8))) {
            for (Job job : claim.jobs()) {
                if (ids.indexOf(job.id()) > 0) {
                    StepWrite done = StepWrite.done("a", "java.lang.String", "\"" + job.id() + filling + "\"");
                    store().checkpoint(List.of(new Checkpoint(job.id(), claim.token(), done)));
                }
            }
        }
        Crowd.run(16, reader -> {
            JobId id = ids.get(reader % 8);
            List<String> expected = reader % 8 == 0 ? List.of() : List.of("\"" + id + filling + "\"");
            assertThat(store().steps(id).steps().stream()
                            .map(step -> String.valueOf(step.value()))
                            .toList()
                            .equals(expected))
                    .as("steps of job %s", id)
                    .isTrue();
        });
    }

    @Test
    default void of_several_rescuers_one_takes_a_lease_over() {
        add(TestJobs.many(20));
        for (int i = 0; i < 20; i++) {
            claimAndDie("worker-1", 1);
        }
        awaitNextInstant();
        Collection<LostClaim> taken = new ConcurrentLinkedQueue<>();
        Crowd.run(4, worker -> {
            List<LostClaim> some = store().takeOver("rescuer-" + worker, TestClaims.LONG, 3);
            while (!some.isEmpty()) {
                taken.addAll(some);
                some = store().takeOver("rescuer-" + worker, TestClaims.LONG, 3);
            }
        });
        // A take-over may skip a lease that another takes at the same time, so it is repeated.
        await(() -> !taken.addAll(store().takeOver("last", TestClaims.LONG, 100)));
        assertThat(taken).extracting(LostClaim::lostToken).hasSize(20).doesNotHaveDuplicates();
        assertThat(taken).extracting(lost -> lost.claim().token()).doesNotHaveDuplicates();
    }

    @Test
    default void a_limit_holds_whoever_claims() {
        add(TestJobs.many(50));
        store().limit("default", 3, NOTE);
        Collection<JobId> claimed = new ConcurrentLinkedQueue<>();
        Crowd.run(4, worker -> {
            for (int round = 0; round < 5; round++) {
                claimed.addAll(TestClaims.ids(claim(TestClaims.upTo(2).by("worker-" + worker))));
            }
        });
        assertThat(claimed).hasSize(3);
    }

    @Test
    default void one_unique_key_makes_one_job() {
        JobSpec spec = TestJobs.spec("work").key("order-1", KeyRule.KEEP).build();
        assertOneJob(insertAtOnce(spec));
    }

    @Test
    default void one_idempotency_key_makes_one_job() {
        JobSpec spec = TestJobs.spec("work").idempotencyKey("request-1").build();
        assertOneJob(insertAtOnce(spec));
    }

    @Test
    default void one_worker_wins_an_election() {
        AtomicInteger leaders = new AtomicInteger();
        Crowd.run(8, worker -> {
            if (store().lead("sweeper", "worker-" + worker, TestClaims.LONG)) {
                leaders.incrementAndGet();
            }
        });
        assertThat(leaders).hasValue(1);
    }

    @Test
    default void one_worker_fires_a_schedule() {
        store().putSchedule("nightly", "rule", TestJobs.spec("report").build(), ScheduleContract.FIRST);
        Collection<List<Enqueued>> fired = new ConcurrentLinkedQueue<>();
        Crowd.run(8, worker -> {
            Optional<List<Enqueued>> jobs =
                    store().fire("nightly", ScheduleContract.FIRST, ScheduleContract.SECOND, TestJobs.many(1));
            jobs.ifPresent(fired::add);
        });
        assertThat(fired).hasSize(1);
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    @Test
    default void cancelling_and_claiming_agree_on_who_was_first() {
        List<JobId> ids = add(TestJobs.many(40));
        Collection<JobId> claimed = new ConcurrentLinkedQueue<>();
        Collection<JobId> cancelled = new ConcurrentLinkedQueue<>();
        Crowd.run(2, worker -> {
            for (int i = 0; i < 20; i++) {
                if (worker == 0) {
                    claimed.addAll(TestClaims.ids(claim(TestClaims.upTo(2))));
                } else {
                    JobId id = ids.get(i * 2);
                    if (store().cancel(id, NOTE) == Cancellation.DONE) {
                        cancelled.add(id);
                    }
                }
            }
        });
        List<JobId> both = new ArrayList<>(claimed);
        both.retainAll(cancelled);
        assertThat(both).isEmpty();
        assertThat(count("default", JobState.CANCELLED)).isEqualTo(cancelled.size());
        assertThat(count("default", JobState.RUNNING)).isEqualTo(claimed.size());
    }

    private Collection<Enqueued> insertAtOnce(JobSpec spec) {
        Collection<Enqueued> answers = new ConcurrentLinkedQueue<>();
        Crowd.run(4, worker -> {
            for (int i = 0; i < 5; i++) {
                answers.addAll(store().insert(List.of(spec)));
            }
        });
        return answers;
    }

    private void assertOneJob(Collection<Enqueued> answers) {
        assertThat(answers).filteredOn(Enqueued::created).hasSize(1);
        assertThat(answers)
                .extracting(Enqueued::id)
                .containsOnly(answers.iterator().next().id());
        assertThat(store().find(JobQuery.all()).items()).hasSize(1);
    }

    /**
     * Claims under a lease that expires at once, settles jobs as succeeded, and returns how
     * many outcomes were accepted.
     */
    private int runBatch(String worker) {
        int accepted = 0;
        for (Claim claim : claim(TestClaims.upTo(3).by(worker).lease(Duration.ZERO))) {
            tick();
            for (Job job : claim.jobs()) {
                accepted += settle(TestSettlements.success(claim, job)).stale().isEmpty() ? 1 : 0;
            }
        }
        return accepted;
    }

    private int rescueOne(String taker) {
        int accepted = 0;
        for (LostClaim lost : store().takeOver(taker, TestClaims.LONG, 1)) {
            for (Job job : lost.claim().jobs()) {
                accepted +=
                        settle(TestSettlements.loss(lost.claim(), job)).stale().isEmpty() ? 1 : 0;
            }
        }
        return accepted;
    }
}
