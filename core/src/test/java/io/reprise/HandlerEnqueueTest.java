// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.PayloadException;
import io.reprise.retry.FailReason;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Job types with options, and what a handler can do with its context. */
class HandlerEnqueueTest {

    @Test
    void a_handler_enqueues_another_job() {
        JobHandler<String> handler = (payload, job) -> {
            if (payload.equals("first")) {
                job.enqueue(WORK.job("second"));
            }
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            engine.reprise.enqueue(WORK.job("first"));
            engine.worker.advance(Duration.ofSeconds(5));
            assertThat(engine.ran).containsExactly("first", "second");
        }
    }

    @Test
    void a_result_that_cannot_be_stored_does_not_run_the_job_again() {
        JobHandler<String> handler = (payload, job) -> job.result("x".repeat(2_000_000));
        try (EngineFixture engine = new EngineFixture(handler)) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.advance(Duration.ofMinutes(5));
            assertThat(engine.ran).hasSize(1);
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.PERMANENT);
            assertThat(engine.job(id).status().lastError())
                    .isNotNull()
                    .satisfies(error -> assertThat(error.type()).isEqualTo(PayloadException.class.getName()));
        }
    }

    @Test
    void jobs_have_the_options_of_their_type_unless_they_set_their_own() {
        JobType<String> type = JobType.of("work", String.class)
                .queue("payments")
                .resource("acquirer")
                .priority(5)
                .timeout(Duration.ofMinutes(1));
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.concurrency(1))) {
            Job job = engine.job(engine.reprise.enqueue(type.job("a").after(Duration.ofHours(1))));
            assertThat(job.queue()).isEqualTo("payments");
            assertThat(job.spec().resource()).isEqualTo("acquirer");
            assertThat(job.spec().priority()).isEqualTo(5);
            assertThat(job.spec().timeout()).isEqualTo(Duration.ofMinutes(1));
            Job own = engine.job(engine.reprise.enqueue(
                    type.job("b").queue("slow").resource("bank").priority(-1).after(Duration.ofHours(1))));
            assertThat(own.queue()).isEqualTo("slow");
            assertThat(own.spec().resource()).isEqualTo("bank");
            assertThat(own.spec().priority()).isEqualTo(-1);
        }
    }

    @Test
    void null_is_refused_where_it_is_given() {
        assertThatThrownBy(() -> WORK.job(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> Reprise.builder().handle(WORK, null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> Schedule.cron("x", "99 * * * *", WORK.job("a")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void an_idempotent_type_leads_an_equal_payload_to_the_first_job() {
        JobType<String> charge = WORK.idempotent();
        try (EngineFixture engine = new EngineFixture((payload, job) -> job.result("charged"))) {
            JobId first = engine.reprise.enqueue(charge.job("{\"order\":17,\"eur\":5}"));
            engine.worker.advance(Duration.ofSeconds(5));
            JobId again = engine.reprise.enqueue(charge.job("{\"eur\":5, \"order\":17}"));
            JobId other = engine.reprise.enqueue(charge.job("{\"eur\":5, \"order\":18}"));
            assertThat(again).isEqualTo(first);
            assertThat(other).isNotEqualTo(first);
            assertThat(engine.job(again).status().result()).isEqualTo("charged");
            engine.worker.advance(Duration.ofSeconds(5));
            assertThat(engine.ran).hasSize(2);
        }
    }

    @Test
    void two_types_may_use_the_same_idempotency_key() {
        JobType<String> other = JobType.of("other", String.class);
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            JobId charge = engine.reprise.enqueue(WORK.job("a").idempotencyKey("order 17"));
            JobId mail = engine.reprise.enqueue(other.job("b").idempotencyKey("order 17"));
            assertThat(mail).isNotEqualTo(charge);
            assertThat(engine.reprise.enqueue(WORK.job("c").idempotencyKey("order 17")))
                    .isEqualTo(charge);
            String longest = "k".repeat(250);
            JobId first = engine.reprise.enqueue(WORK.job("d").idempotencyKey(longest));
            assertThat(engine.reprise.enqueue(WORK.job("e").idempotencyKey(longest)))
                    .isEqualTo(first);
            assertThatThrownBy(() -> WORK.job("f").idempotencyKey("k".repeat(251)))
                    .hasMessageContaining("1 to 250 characters");
        }
    }

    @Test
    void decimals_are_compared_as_they_are_written() {
        assertThat(ContentKey.of("t", 1, "{\"a\":0.10000000000000000001}"))
                .isNotEqualTo(ContentKey.of("t", 1, "{\"a\":0.1}"));
        assertThat(ContentKey.of("t", 1, "{\"a\":1,\"b\":[2,null]}"))
                .isEqualTo(ContentKey.of("t", 1, "{\"b\":[2,null],\"a\":1}"));
        assertThat(ContentKey.of("t", 1, "1")).isNotEqualTo(ContentKey.of("u", 1, "1"));
    }

    @Test
    void a_stopped_worker_leaves_enqueueing_alone() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            engine.reprise.stopWorker();
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            assertThat(engine.job(id).state()).isEqualTo(JobState.PENDING);
            assertThat(engine.ran).isEmpty();
        }
    }

    @Test
    void a_builder_starts_once() {
        RepriseBuilder builder = Reprise.builder().store(new InMemoryJobStore()).codec(new TextCodec());
        builder.start().close();
        assertThatThrownBy(builder::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("already");
    }

    @Test
    void a_codec_that_reads_classes_only_says_so() {
        assertThatThrownBy(() -> new TextCodec().decode("[]", new PayloadType<List<String>>() {}.type()))
                .isInstanceOf(PayloadException.class)
                .hasMessageContaining("List<java.lang.String>");
    }
}
