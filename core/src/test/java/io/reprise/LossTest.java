// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.insight.JobEvent;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import io.reprise.store.Suspects;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What becomes of jobs whose worker is gone, decided by the sweeper of another. */
class LossTest {

    private static final Duration LEASE = Duration.ofSeconds(30);

    /** Claims like a worker that then dies: nothing is ever heard of it again. */
    private static void die(EngineFixture engine, String worker, String queue, int jobs) {
        engine.memory.claim(
                new ClaimRequest(worker, LEASE, jobs, List.of(new ClaimRequest.Demand(queue, jobs)), 0.2, true));
    }

    private static EngineFixture survivors() {
        // Serves another queue, so that only the dying workers of the tests touch the jobs.
        return new EngineFixture((payload, job) -> {}, builder -> builder.queues(Queue.of("elsewhere")));
    }

    /** Seeds §9, check 4 (ST-B5, MG-B2). */
    @Test
    void check_04_a_job_that_always_kills_its_worker_ends_quarantined() {
        try (EngineFixture engine = survivors()) {
            JobId poison = engine.reprise.enqueue(WORK.job("poison").retry(EXACT.losses(new LossRule(false, true, 3))));
            int deaths = 0;
            while (engine.job(poison).state() == JobState.PENDING && deaths < 20) {
                die(engine, "victim-" + ++deaths, "default", 1);
                engine.worker.advance(Duration.ofMinutes(2));
            }
            Job dead = engine.job(poison);
            assertThat(dead.failReason()).isEqualTo(FailReason.QUARANTINED);
            assertThat(dead.counts().losses()).isEqualTo(3).isEqualTo(deaths);
            assertThat(dead.attempts()).isZero();
            assertThat(engine.reprise.attempts(poison))
                    .extracting(Attempt::ending)
                    .containsOnly(Attempt.Ending.LOST)
                    .hasSize(3);
        }
    }

    @Test
    void trap_innocent_neighbours_of_a_killer_are_not_quarantined_with_it() {
        try (EngineFixture engine = survivors()) {
            RetryPolicy policy = EXACT.losses(new LossRule(false, true, 3));
            JobId poison = engine.reprise.enqueue(WORK.job("poison").retry(policy));
            engine.reprise.enqueueAll(
                    Collections.nCopies(30, WORK.job("innocent").retry(policy)));
            for (int worker = 0; !engine.job(poison).state().isTerminal() && worker < 100; worker++) {
                workUntilKilled(engine, "victim-" + worker, poison);
                engine.worker.advance(Duration.ofMinutes(2));
            }
            assertThat(engine.job(poison).failReason()).isEqualTo(FailReason.QUARANTINED);
            assertThat(engine.reprise.find(JobQuery.deadLetters()).items()).hasSize(1);
        }
    }

    @Test
    void a_killer_among_many_is_found_in_smaller_and_smaller_groups() {
        try (EngineFixture engine = survivors()) {
            List<JobId> innocent =
                    new ArrayList<>(engine.reprise.enqueueAll(Collections.nCopies(500, WORK.job("innocent"))));
            JobId poison = engine.reprise.enqueue(WORK.job("poison"));
            innocent.addAll(engine.reprise.enqueueAll(Collections.nCopies(500, WORK.job("innocent"))));
            int deaths = 0;
            for (; !engine.job(poison).state().isTerminal() && deaths < 100; deaths++) {
                workUntilKilled(engine, "victim-" + deaths, poison, Suspects.upTo(1_000), 2_000);
                engine.worker.advance(Duration.ofHours(1));
            }
            assertThat(engine.job(poison).failReason()).isEqualTo(FailReason.QUARANTINED);
            assertThat(deaths).isEqualTo(LossRule.DEFAULT.max());
            assertThat(engine.reprise.find(JobQuery.deadLetters()).items()).hasSize(1);
            List<Integer> losses = innocent.stream()
                    .map(id -> engine.job(id).counts().losses())
                    .toList();
            assertThat(losses).allMatch(lost -> lost <= LossRule.DEFAULT.max() - 1);
            assertThat(losses.stream().filter(lost -> lost == LossRule.DEFAULT.max() - 1))
                    .as("innocents of the last group")
                    .hasSizeLessThan(16);
        }
    }

    /** A worker that finishes what it claims, unless the poison is among it: then it dies with all it holds. */
    private static void workUntilKilled(EngineFixture engine, String worker, JobId poison) {
        workUntilKilled(engine, worker, poison, Suspects.upTo(1), 10);
    }

    private static void workUntilKilled(
            EngineFixture engine, String worker, JobId poison, Suspects suspects, int jobs) {
        List<ClaimRequest.Demand> demands = List.of(new ClaimRequest.Demand("default", jobs));
        boolean alive = true;
        while (alive) {
            List<Claim> claims =
                    engine.memory.claim(new ClaimRequest(worker, LEASE, jobs, demands, 0.2, suspects, Set.of()));
            alive = !claims.isEmpty()
                    && claims.stream()
                            .flatMap(claim -> claim.jobs().stream())
                            .noneMatch(job -> job.id().equals(poison));
            if (alive) {
                claims.forEach(claim -> engine.memory.settle(
                        claim.jobs().stream().map(job -> succeeded(claim, job)).toList(), List.of(claim.token())));
            }
        }
    }

    private static Settlement succeeded(Claim claim, Job job) {
        return new Settlement(
                job.id(), claim.token(), CountedAs.ATTEMPT, Duration.ZERO, new Settlement.Succeed(null), null, null);
    }

    @Test
    void trap_the_crash_path_respects_the_attempt_cap_when_losses_count() {
        try (EngineFixture engine = survivors()) {
            JobId id = engine.reprise.enqueue(
                    WORK.job("a").retry(EXACT.maxAttempts(2).losses(new LossRule(true, false, 100))));
            for (int death = 0; death < 2; death++) {
                die(engine, "victim-" + death, "default", 1);
                engine.worker.advance(Duration.ofMinutes(2));
            }
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
        }
    }

    @Test
    void where_losses_count_every_number_counts_them() {
        try (EngineFixture engine = survivors()) {
            JobId id = engine.reprise.enqueue(
                    WORK.job("a").retry(EXACT.maxAttempts(3).losses(new LossRule(true, false, 100))));
            die(engine, "victim-0", "default", 1);
            engine.worker.advance(Duration.ofMinutes(2));
            Job waiting = engine.job(id);
            assertThat(waiting.attempts()).isEqualTo(1);
            assertThat(waiting.retryCount()).isEqualTo(1);
            assertThat(waiting.isRetryable()).isTrue();
            for (int death = 1; death < 3; death++) {
                die(engine, "victim-" + death, "default", 1);
                engine.worker.advance(Duration.ofMinutes(2));
            }
            Job dead = engine.job(id);
            assertThat(dead.failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(dead.attempts()).isEqualTo(3);
            assertThat(dead.retryCount()).isEqualTo(2);
            assertThat(dead.isRetryable()).isFalse();
            assertThat(engine.reprise.attempts(id)).extracting(Attempt::number).containsExactly(1, 2, 3);
            assertThat(engine.events.stream().filter(event -> event.kind() == JobEvent.Kind.FAILED))
                    .extracting(JobEvent::attempt)
                    .containsExactly(3);
            Operations ada = engine.reprise.as("ada", null);
            assertThatThrownBy(() -> ada.retry(id, ManualRetry.NOW))
                    .hasMessageContaining("has spent all of its 3 attempt(s)");
            ada.retry(id, ManualRetry.NOW.granting(1));
            assertThat(engine.job(id).isRetryable()).isTrue();
        }
    }

    @Test
    void a_loss_spends_no_attempt_and_is_told() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            JobId id = engine.memory
                    .insert(List.of(JobSpec.builder("work", "a").build()))
                    .get(0)
                    .id();
            die(engine, "victim", "default", 1);
            engine.worker.advance(Duration.ofMinutes(5));
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.job(id).counts()).isEqualTo(new JobCounts(1, 1, 0, 0, 0));
            assertThat(engine.kinds()).contains(JobEvent.Kind.LOST, JobEvent.Kind.SUCCEEDED);
        }
    }

    @Test
    void trap_jobs_fetched_ahead_by_a_worker_that_died_come_back() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            List<JobSpec> specs =
                    Collections.nCopies(50, JobSpec.builder("work", "a").build());
            engine.memory.insert(specs);
            die(engine, "victim", "default", 50);
            engine.worker.advance(Duration.ofMinutes(10));
            assertThat(engine.ran).hasSize(50);
            assertThat(engine.reprise.queues().get(0).counts().keySet()).isEqualTo(Set.of(JobState.SUCCEEDED));
        }
    }

    @Test
    void what_a_stopped_worker_did_not_give_back_is_not_blamed() {
        try (EngineFixture engine = survivors()) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            for (int stops = 0; stops < 10; stops++) {
                String worker = "stopped-" + stops;
                die(engine, worker, "default", 1);
                long token = java.util.Objects.requireNonNull(
                                engine.job(id).status().holder())
                        .token();
                engine.memory.excuse(worker, List.of(token), true);
                engine.worker.advance(Duration.ofMinutes(2));
            }
            assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
            assertThat(engine.job(id).counts()).isEqualTo(new JobCounts(0, 0, 10, 0, 0));
            assertThat(engine.kinds()).doesNotContain(JobEvent.Kind.LOST);
        }
    }

    @Test
    void a_cancellation_of_a_lost_job_is_honoured() {
        try (EngineFixture engine = survivors()) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            die(engine, "victim", "default", 1);
            engine.reprise.as("ada", "no longer wanted").cancel(id);
            engine.worker.advance(Duration.ofMinutes(2));
            assertThat(engine.job(id).state()).isEqualTo(JobState.CANCELLED);
        }
    }
}
