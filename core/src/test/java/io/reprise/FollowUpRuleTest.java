// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.JobEvent.Kind;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FollowUpRuleTest {

    private static final JobType<String> TOLD =
            JobType.of("told", String.class).retry(RetryPolicy.unset().maxAttempts(7));

    private static List<JobRequest<?>> tell(Kind kind, Job job, long token) {
        boolean own = job.type().equals(TOLD.name());
        return own
                ? List.of()
                : List.of(TOLD.job(kind + " " + job.id() + " " + token).queue("told"));
    }

    private final List<Long> tokens = new ArrayList<>();

    private EngineFixture engine(JobHandler<String> handler) {
        return new EngineFixture(
                (payload, job) -> {
                    tokens.add(job.token());
                    handler.handle(payload, job);
                },
                builder -> builder.followUps(FollowUpRuleTest::tell).queues(Queue.of("default")));
    }

    private static List<String> told(EngineFixture engine) {
        return engine.reprise.find(JobQuery.all().queue("told")).items().stream()
                .sorted((a, b) -> Long.compare(a.id().value(), b.id().value()))
                .map(job -> job.spec().payload())
                .toList();
    }

    @Test
    void each_step_of_a_job_is_followed_once() {
        try (EngineFixture engine = engine((payload, job) -> {
            throw new IllegalStateException("down");
        })) {
            JobId id = engine.reprise.enqueue(WORK.job("x").retry(EXACT.maxAttempts(2)));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(told(engine))
                    .containsExactly(
                            "RETRY_SCHEDULED " + id + " " + tokens.get(0), "FAILED " + id + " " + tokens.get(1));
            assertThat(engine.reprise
                            .find(JobQuery.all().queue("told"))
                            .items()
                            .get(0)
                            .policy()
                            .maxAttempts()
                            .toOptional())
                    .contains(7);
        }
    }

    @Test
    void a_success_is_followed() {
        try (EngineFixture engine = engine((payload, job) -> {})) {
            JobId id = engine.reprise.enqueue(WORK.job("x"));
            engine.worker.advance(Duration.ofSeconds(1));
            assertThat(told(engine)).containsExactly("SUCCEEDED " + id + " " + tokens.get(0));
        }
    }

    @Test
    void a_job_cancelled_by_hand_or_past_its_deadline_is_followed_too() {
        try (EngineFixture engine = engine((payload, job) -> {})) {
            JobId unwanted = engine.reprise.enqueue(WORK.job("x").after(Duration.ofDays(1)));
            assertThat(engine.reprise.as("ada", null).cancel(unwanted)).isEqualTo(Cancellation.DONE);
            engine.reprise.as("ada", null).pause("default");
            JobId late = engine.reprise.enqueue(WORK.job("y").retry(EXACT.deadline(Duration.ofSeconds(5))));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(told(engine)).containsExactly("CANCELLED " + unwanted + " 0", "FAILED " + late + " 0");
        }
    }

    @Test
    void a_rule_that_throws_or_asks_for_what_could_be_refused_harms_no_job() {
        List<FollowUpRule> broken = List.of(
                (kind, job, token) -> {
                    throw new StackOverflowError();
                },
                (kind, job, token) -> List.of(TOLD.job("x").key("k", KeyRule.REJECT)));
        for (FollowUpRule rule : broken) {
            try (EngineFixture engine = new EngineFixture(
                    (payload, job) -> {}, builder -> builder.followUps(rule).queues(Queue.of("default")))) {
                JobId id = engine.reprise.enqueue(WORK.job("x"));
                engine.worker.advance(Duration.ofSeconds(1));
                assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
                assertThat(told(engine)).isEmpty();
            }
        }
    }
}
