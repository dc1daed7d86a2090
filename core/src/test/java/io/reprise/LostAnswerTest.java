// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.JobEvent;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An outcome that was written by a call whose answer was lost is told with the values that were stored. */
class LostAnswerTest {

    private final FaultyStore faults = new FaultyStore();

    private static List<JobEvent> of(EngineFixture engine, JobEvent.Kind kind) {
        return engine.events.stream().filter(event -> event.kind() == kind).toList();
    }

    @Test
    void a_retry_is_told_with_the_due_time_that_is_stored() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    throw new IllegalStateException("fails");
                },
                b -> b,
                faults::wrap)) {
            faults.failAfter("settle", 1);
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(RetryPolicy.fixed(Duration.ofHours(1))));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(of(engine, JobEvent.Kind.RETRY_SCHEDULED))
                    .singleElement()
                    .extracting(JobEvent::dueAt)
                    .isEqualTo(engine.job(id).times().dueAt());
        }
    }

    @Test
    void a_cancellation_that_took_the_place_of_a_retry_is_told_as_one() {
        JobId[] running = new JobId[1];
        EngineFixture[] fixture = new EngineFixture[1];
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    fixture[0].memory.cancel(running[0], new AuditNote("ada", null));
                    throw new IllegalStateException("fails");
                },
                b -> b,
                faults::wrap)) {
            fixture[0] = engine;
            faults.failAfter("settle", 1);
            running[0] = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(running[0]).state()).isEqualTo(JobState.CANCELLED);
            assertThat(of(engine, JobEvent.Kind.RETRY_SCHEDULED)).isEmpty();
            assertThat(of(engine, JobEvent.Kind.CANCELLED)).hasSize(1);
        }
    }
}
