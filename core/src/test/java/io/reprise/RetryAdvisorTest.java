// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.RetryAdvisor.Advice;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.insight.JobEvent;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.remote.RemoteLease;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Code that overrules the policy, and what it cannot do. */
class RetryAdvisorTest {

    private static final JobHandler<String> FAILS = (payload, job) -> {
        throw new IOException("down");
    };

    private final List<Throwable> troubles = new ArrayList<>();

    private EngineFixture engine(RetryAdvisor advisor) {
        return new EngineFixture(
                FAILS,
                builder -> builder.retryAdvisor(advisor).listener(new JobListener() {
                    @Override
                    public void onEvent(JobEvent event) {}

                    @Override
                    public void onAdvisorFailure(JobId job, Throwable failure) {
                        troubles.add(failure);
                    }
                }));
    }

    @Test
    void an_advisor_changes_the_delay_and_the_history_says_so() {
        try (EngineFixture engine = engine(situation -> Advice.retryAfter(Duration.ofMinutes(5)))) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.advance(Duration.ofSeconds(1));
            assertThat(engine.sinceStart(engine.job(id).times().dueAt())).isEqualTo(Duration.ofMinutes(5));
            Attempt attempt = engine.reprise.attempts(id).get(0);
            assertThat(attempt.decision()).isInstanceOf(Decision.Retry.class);
            assertThat(String.valueOf(attempt.decision().rule())).startsWith("advisor, after io");
            engine.worker.advance(Duration.ofHours(1));
            assertThat(engine.job(id).failReason()).as("attempts bound it").isEqualTo(FailReason.EXHAUSTED);
            assertThat(engine.ran).hasSize(4);
        }
    }

    @Test
    void an_advisor_fails_cancels_snoozes_and_keeps() {
        RetryAdvisor advisor = situation -> switch (situation.job().spec().payload()) {
            case "fail" -> Advice.fail();
            case "cancel" -> Advice.cancel();
            case "snooze" -> Advice.snooze(Duration.ofHours(1));
            default -> Advice.keep();
        };
        try (EngineFixture engine = engine(advisor)) {
            List<JobId> ids = engine.reprise.enqueueAll(List.of(
                    WORK.job("fail").retry(EXACT),
                    WORK.job("cancel").retry(EXACT),
                    WORK.job("snooze").retry(EXACT),
                    WORK.job("keep").retry(EXACT)));
            engine.worker.advance(Duration.ofMillis(500));
            assertThat(engine.job(ids.get(0)).failReason()).isEqualTo(FailReason.PERMANENT);
            assertThat(engine.job(ids.get(1)).state()).isEqualTo(JobState.CANCELLED);
            Job snoozed = engine.job(ids.get(2));
            assertThat(snoozed.counts().snoozes()).isEqualTo(1);
            assertThat(snoozed.attempts()).isZero();
            assertThat(engine.sinceStart(engine.job(ids.get(3)).times().dueAt()))
                    .isEqualTo(Duration.ofSeconds(1));
        }
    }

    @Test
    void trouble_of_an_advisor_leaves_the_decision_to_the_policy() {
        RetryAdvisor broken = situation -> {
            if (situation.history().attempts() == 0) {
                throw new StackOverflowError();
            }
            return null;
        };
        try (EngineFixture engine = engine(broken)) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT.maxAttempts(2)));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(troubles).hasSize(2);
            assertThat(troubles.get(0)).isInstanceOf(StackOverflowError.class);
            assertThat(troubles.get(1)).isInstanceOf(NullPointerException.class);
        }
    }

    @Test
    void advice_that_comes_late_is_ignored() {
        EngineFixture[] itself = new EngineFixture[1];
        RetryAdvisor slow = situation -> {
            itself[0].clock.advance(Duration.ofSeconds(2));
            return Advice.fail();
        };
        try (EngineFixture engine = engine(slow)) {
            itself[0] = engine;
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.advance(Duration.ofMillis(100));
            assertThat(engine.job(id).failReason()).isNull();
            assertThat(engine.job(id).attempts()).isPositive();
            assertThat(troubles).isNotEmpty();
        }
    }

    @Test
    void a_permanent_failure_is_retried_by_advice_until_attempts_are_spent() {
        RetryAdvisor again = situation -> Advice.retryAfter(Duration.ofSeconds(1));
        try (EngineFixture engine = engine(again)) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT.neverRetryOn(IOException.class)));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).hasSize(4);
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.PERMANENT);
        }
    }

    @Test
    void a_remote_run_is_advised_too_and_a_type_has_its_own_advisor() {
        JobType<String> remote = JobType.of("remote", String.class);
        try (EngineFixture engine = new EngineFixture(
                FAILS,
                builder -> builder.remoteWorkers()
                        .retryAdvisor(situation -> Advice.fail())
                        .retryAdvisor(remote, situation -> Advice.snooze(Duration.ofMinutes(1))))) {
            JobId id = engine.reprise.enqueue(remote.job("x"));
            RemoteWorkers workers = engine.reprise.remoteWorkers();
            RemoteLease lease = workers.lease(
                            new RemoteLease.LeaseRequest("py", List.of(), Set.of("remote"), 1, Duration.ofSeconds(30)))
                    .get(0);
            workers.fail(
                    lease.key(), Failure.reported("X", null, null, "", null).withGiven(FailureClass.PERMANENT));
            assertThat(engine.job(id).counts().snoozes()).isEqualTo(1);
        }
    }
}
