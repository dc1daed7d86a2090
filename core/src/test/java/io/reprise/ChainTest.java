// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ChainTest {

    private final Map<String, Optional<JobId>> ran = new LinkedHashMap<>();

    private EngineFixture engine(JobHandler<String> handler) {
        return new EngineFixture((payload, job) -> {
            ran.put(payload, job.predecessor());
            handler.handle(payload, job);
        });
    }

    private static void failing(String payload, JobContext job) {
        if (payload.startsWith("bad")) {
            throw new IllegalStateException("down");
        }
    }

    @Test
    void jobs_run_one_after_the_other_and_know_whom_they_follow() {
        try (EngineFixture engine = engine(ChainTest::failing)) {
            JobId first = engine.reprise.enqueue(WORK.job("ship")
                    .then(WORK.job("mail").then(WORK.job("archive")))
                    .whenDead(WORK.job("refund")));
            engine.worker.advance(Duration.ofSeconds(5));
            assertThat(engine.ran).containsExactly("ship", "mail", "archive");
            assertThat(ran.get("ship")).isEmpty();
            assertThat(ran.get("mail")).contains(first);
            assertThat(ran.get("archive"))
                    .hasValueSatisfying(
                            id -> assertThat(engine.job(id).spec().payload()).isEqualTo("mail"));
        }
    }

    @Test
    void a_dead_letter_is_followed_by_its_own_jobs_only() {
        try (EngineFixture engine = engine(ChainTest::failing)) {
            engine.reprise.enqueue(WORK.job("bad")
                    .retry(EXACT.maxAttempts(2))
                    .then(WORK.job("mail"))
                    .whenDead(WORK.job("refund").then(WORK.job("apologize"))));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).containsExactly("bad", "bad", "refund", "apologize");
        }
    }

    @Test
    void a_job_past_its_deadline_is_followed_as_a_dead_letter() {
        try (EngineFixture engine = engine(ChainTest::failing)) {
            engine.reprise.as("ada", null).pause("default");
            engine.reprise.enqueue(WORK.job("late")
                    .retry(EXACT.deadline(Duration.ofSeconds(5)))
                    .whenDead(WORK.job("refund").queue("other")));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.reprise.find(JobQuery.all().queue("other")).items())
                    .extracting(job -> job.spec().payload())
                    .containsExactly("refund");
        }
    }

    @Test
    void a_cancelled_job_is_followed_by_none() {
        try (EngineFixture engine = engine(ChainTest::failing)) {
            JobId id = engine.reprise.enqueue(WORK.job("x")
                    .after(Duration.ofDays(1))
                    .then(WORK.job("then"))
                    .whenDead(WORK.job("dead")));
            engine.reprise.as("ada", null).cancel(id);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(id).state()).isEqualTo(JobState.CANCELLED);
            assertThat(engine.ran).isEmpty();
        }
    }

    @Test
    void a_dead_letter_that_a_person_retries_goes_on_with_its_chain() {
        boolean[] repaired = {false};
        try (EngineFixture engine = engine((payload, job) -> {
            if (payload.equals("pay") && !repaired[0]) {
                throw new IllegalStateException("down");
            }
        })) {
            JobId id = engine.reprise.enqueue(
                    WORK.job("pay").retry(EXACT.maxAttempts(1)).then(WORK.job("mail")));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).containsExactly("pay");
            repaired[0] = true;
            engine.reprise.as("ada", null).retry(id, ManualRetry.NOW.granting(1));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).containsExactly("pay", "pay", "mail");
        }
    }

    @Test
    void a_follower_keeps_all_of_its_options() {
        Instant due = Instant.parse("2099-01-01T00:00:00Z");
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(3)).maxAttempts(9);
        try (EngineFixture engine = engine(ChainTest::failing)) {
            engine.reprise.enqueue(WORK.job("first")
                    .then(WORK.job("second \"quoted\" \\ é 👩‍🚀")
                            .queue("other")
                            .priority(-3)
                            .retry(policy)
                            .resource("host")
                            .tags("b", "a")
                            .key("unique")
                            .idempotencyKey("once")
                            .timeout(Duration.ofMillis(1_500))
                            .at(due)));
            engine.worker.advance(Duration.ofSeconds(5));
            Job follower =
                    engine.reprise.find(JobQuery.all().queue("other")).items().get(0);
            JobSpec spec = follower.spec();
            assertThat(spec.payload()).isEqualTo("second \"quoted\" \\ é 👩‍🚀");
            assertThat(spec.priority()).isEqualTo(-3);
            assertThat(spec.policy().maxAttempts().toOptional()).contains(9);
            assertThat(spec.resource()).isEqualTo("host");
            assertThat(spec.tags()).containsExactly("a", "b");
            assertThat(spec.key()).isEqualTo("unique");
            assertThat(spec.idempotencyKey()).endsWith("once");
            assertThat(spec.timeout()).isEqualTo(Duration.ofMillis(1_500));
            assertThat(follower.times().dueAt()).isEqualTo(due);
        }
    }

    @Test
    void a_chain_of_a_hundred_jobs_runs_to_its_end_and_a_longer_one_is_refused() {
        try (EngineFixture engine = engine(ChainTest::failing)) {
            engine.reprise.enqueue(deep(100));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.ran).hasSize(101).startsWith("100", "99").endsWith("1", "0");
            assertThatThrownBy(() -> engine.reprise.enqueue(deep(101)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("More than 100 jobs follow the 'work' job");
        }
    }

    private static JobRequest<String> deep(int levels) {
        JobRequest<String> chain = WORK.job("0");
        for (int i = 1; i <= levels; i++) {
            chain = WORK.job(String.valueOf(i)).then(chain);
        }
        return chain;
    }

    @Test
    void a_follower_that_the_store_could_refuse_is_refused_at_once() {
        try (EngineFixture engine = engine(ChainTest::failing)) {
            assertThatThrownBy(() -> engine.reprise.enqueue(
                            WORK.job("a").then(WORK.job("b").key("k", KeyRule.REJECT))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("KEEP only");
            String large = "x".repeat(JobSpec.MAX_PAYLOAD_BYTES / 2);
            assertThatThrownBy(() -> engine.reprise.enqueue(
                            WORK.job("a").then(WORK.job(large)).then(WORK.job(large))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("chain has");
            assertThat(engine.reprise.find(JobQuery.all()).items()).isEqualTo(List.of());
        }
    }
}
