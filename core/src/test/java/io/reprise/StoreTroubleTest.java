// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.JobEvent;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker outlives its database's bad days, and loses nothing to them. */
class StoreTroubleTest {

    private final FaultyStore faults = new FaultyStore();

    private EngineFixture engine(JobHandler<String> handler) {
        return new EngineFixture(handler, builder -> builder, faults::wrap);
    }

    @ParameterizedTest
    @ValueSource(strings = {"claim", "settle", "renew", "takeOver", "lead", "schedules", "expire", "prune", "now"})
    void a_call_that_fails_for_a_while_only_delays(String method) {
        try (EngineFixture engine = engine((payload, job) -> {})) {
            faults.failBefore(method, 10);
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.advance(Duration.ofMinutes(3));
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.ran).hasSize(1);
        }
    }

    /** Seeds §9, check 6: old state or new state, nothing between, and the outcome is told once. */
    @Test
    void check_06_an_outcome_whose_acknowledgement_was_lost_is_recognised_as_written() {
        try (EngineFixture engine = engine((payload, job) -> {
            throw new IOException("no");
        })) {
            faults.failAfter("settle", 2);
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.advance(Duration.ofMillis(900));
            assertThat(engine.job(id).attempts()).isEqualTo(1);
            assertThat(engine.kinds()).contains(JobEvent.Kind.RETRY_SCHEDULED).doesNotContain(JobEvent.Kind.STALE);
            assertThat(engine.reprise.attempts(id)).hasSize(1);
        }
    }

    @Test
    void a_claim_whose_answer_was_lost_comes_back_when_its_lease_ends() {
        try (EngineFixture engine = engine((payload, job) -> {})) {
            faults.failAfter("claim", 1);
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.advance(Duration.ofMinutes(3));
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.job(id).counts().losses()).isEqualTo(1);
        }
    }

    @Test
    void lost_jobs_that_could_not_be_settled_do_not_wait_for_another_lease() {
        try (EngineFixture engine = engine((payload, job) -> {})) {
            faults.failAfter("claim", 1);
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.advance(Duration.ofSeconds(5));
            assertThat(engine.job(id).state()).isEqualTo(JobState.RUNNING);
            faults.failBefore("settle", 3);
            // A lease lasts 30 s.
            engine.worker.advance(Duration.ofSeconds(35));
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.job(id).counts().losses()).isEqualTo(1);
            assertThat(engine.kinds()).contains(JobEvent.Kind.LOST);
        }
    }

    /** Trap: group commit lost at shutdown. */
    @Test
    void trap_outcomes_are_written_before_a_worker_stops_even_if_the_database_is_shaky() {
        EngineFixture engine = engine((payload, job) -> {});
        engine.reprise.enqueueAll(Collections.nCopies(30, WORK.job("a")));
        faults.failBefore("settle", 4);
        engine.worker.runDue();
        engine.close();
        assertThat(engine.memory.queues().get(0).count(JobState.SUCCEEDED)).isEqualTo(engine.ran.size());
        assertThat(engine.memory.queues().get(0).count(JobState.RUNNING)).isZero();
    }

    @Test
    void lost_jobs_whose_settlement_was_written_without_an_answer_are_told_once() {
        try (EngineFixture engine = engine((payload, job) -> {})) {
            faults.failAfter("claim", 1);
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.advance(Duration.ofSeconds(5));
            faults.failAfter("settle", 1);
            engine.worker.advance(Duration.ofMinutes(2));
            assertThat(engine.job(id).counts().losses()).isEqualTo(1);
            assertThat(engine.kinds()).containsOnlyOnce(JobEvent.Kind.LOST);
        }
    }
}
