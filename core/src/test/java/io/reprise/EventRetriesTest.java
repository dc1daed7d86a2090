// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.failure.FailureClass;
import io.reprise.insight.JobEvent;
import io.reprise.insight.JobEvent.Kind;
import io.reprise.insight.RetryView;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.retry.FailReason;
import io.reprise.step.Step;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** CD-09: an event has the four values that the job has after it. */
class EventRetriesTest {

    private static RetryView last(EngineFixture engine, Kind kind) {
        List<JobEvent> found =
                engine.events.stream().filter(event -> event.kind() == kind).toList();
        return found.get(found.size() - 1).retries();
    }

    @Test
    void every_event_says_what_the_stored_job_says() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw new IOException("down");
        })) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT.maxAttempts(3)));
            assertThat(last(engine, Kind.ENQUEUED)).isEqualTo(new RetryView(0, 2, true, null));
            engine.worker.runDue();
            Job waiting = engine.job(id);
            assertThat(last(engine, Kind.RETRY_SCHEDULED))
                    .isEqualTo(new RetryView(1, 2, true, waiting.nextRetryAt()))
                    .isEqualTo(RetryView.of(waiting));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(last(engine, Kind.FAILED))
                    .isEqualTo(new RetryView(2, 2, false, null))
                    .isEqualTo(RetryView.of(engine.job(id)));
        }
    }

    @Test
    void what_no_attempt_can_cure_is_not_retryable() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw JobSignal.fail("never");
        })) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.runDue();
            assertThat(last(engine, Kind.FAILED)).isEqualTo(RetryView.of(engine.job(id)));
            assertThat(last(engine, Kind.FAILED).isRetryable()).isFalse();
        }
    }

    @Test
    void what_a_limit_of_a_branch_exhausted_is_not_retryable_as_a_manual_retry_says() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw new IOException("down");
        })) {
            JobId id = engine.reprise.enqueue(WORK.job("a")
                    .retry(EXACT.maxAttempts(8)
                            .on(FailureClass.TRANSIENT)
                            .maxAttempts(2)
                            .policy()));
            engine.worker.advance(Duration.ofHours(1));
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(engine.job(id).isRetryable()).isFalse();
            assertThat(last(engine, Kind.FAILED)).isEqualTo(RetryView.of(engine.job(id)));
            Operations ada = engine.reprise.as("ada", null);
            assertThatThrownBy(() -> ada.retry(id, ManualRetry.NOW)).hasMessageContaining("all of its 2 attempt(s)");
            ada.retry(id, ManualRetry.NOW.granting(1));
            assertThat(engine.job(id).isRetryable()).isTrue();
        }
    }

    @Test
    void a_step_whose_outcome_is_unknown_is_not_retryable() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> job.step(Step.of("pay", String.class).atMostOnce(), () -> {
                    throw new IOException("the connection broke");
                }))) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.advance(Duration.ofHours(1));
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.UNKNOWN_OUTCOME);
            assertThat(last(engine, Kind.FAILED)).isEqualTo(RetryView.of(engine.job(id)));
            assertThat(last(engine, Kind.FAILED).isRetryable()).isFalse();
        }
    }

    @Test
    void progress_is_an_event() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> job.progress(40, "half way"))) {
            engine.reprise.enqueue(WORK.job("a"));
            engine.worker.runDue();
            assertThat(engine.kinds()).containsSubsequence(Kind.STARTED, Kind.PROGRESS, Kind.SUCCEEDED);
            JobEvent progress = engine.events.stream()
                    .filter(event -> event.kind() == Kind.PROGRESS)
                    .findFirst()
                    .orElseThrow();
            assertThat(progress.progress().percent()).isEqualTo(40);
            assertThat(progress.attempt()).isEqualTo(1);
        }
    }
}
