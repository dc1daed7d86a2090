// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.job.Attempt;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.JobStore;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What stands in a job's document, for people and for the next version. */
class JobDocumentTest implements StoreFixture {

    private static MongoServer server;

    @BeforeAll
    static void open() {
        server = new MongoServer();
    }

    @AfterAll
    static void close() {
        server.close();
    }

    @BeforeEach
    void empty() {
        server.empty();
    }

    @Override
    public JobStore store() {
        return server.store();
    }

    private static Document document(JobId id) {
        return Objects.requireNonNull(server.jobs().first(JobDocs.byId(id)));
    }

    @Test
    void a_waiting_job_tells_when_it_is_next_and_how_it_backs_off() {
        RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(5))
                .factor(2)
                .cap(Duration.ofMinutes(30))
                .jitter(new Jitter.Full());
        Job job = read(add(TestJobs.spec("mail").policy(policy).delay(Duration.ofHours(1))));
        Document document = document(job.id());
        assertThat(document)
                .containsEntry("status", "pending")
                .containsEntry("attempts", 0)
                .containsEntry("payload", new Document());
        assertThat(document.get("next_retry_at"))
                .isEqualTo(Date.from(Objects.requireNonNull(job.times().dueAt())));
        assertThat(document.get("created_at")).isEqualTo(Date.from(job.times().createdAt()));
        assertThat(document.get("backoff_policy"))
                .isEqualTo(new Document("base_sec", 5.0)
                        .append("factor", 2.0)
                        .append("max_sec", 1800.0)
                        .append("jitter", "full"));
    }

    @Test
    void a_document_follows_its_job() {
        JobId id = add(TestJobs.spec("mail"));
        Claim claim = claimOne();
        assertThat(document(id)).containsEntry("status", "processing").doesNotContainKey("next_retry_at");
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        assertThat(document(id))
                .containsEntry("status", "pending")
                .containsEntry("attempts", 1)
                .containsKey("next_retry_at");
        Document error = document(id).get("error", Document.class);
        assertThat(error).containsEntry("message", "the other side is down").containsEntry("code", "refused");
        assertThat(error.get("at")).isEqualTo(document(id).get("updated_at"));
        succeed(claimOne());
        assertThat(document(id))
                .containsEntry("status", "done")
                .doesNotContainKeys("next_retry_at", "worker", "until_us", "live_queue");
    }

    @Test
    void a_document_that_is_not_understood_is_claimed_as_damaged_and_stops_nobody() {
        JobId broken = add(TestJobs.spec("mail"));
        JobId sound = add(TestJobs.spec("mail"));
        server.jobs().update(JobDocs.byId(broken), Change.none().set("policy", "{\"of\":\"the future\"}"));
        Claim claim = claimOne(TestClaims.upTo(10));
        assertThat(claim.jobs()).extracting(Job::id).containsExactly(broken, sound);
        assertThat(claim.damaged()).containsOnlyKeys(broken);
        settle(TestSettlements.fail(claim, claim.jobs().get(0)));
        assertThat(read(broken).state()).isEqualTo(JobState.FAILED);
    }

    @Test
    void a_schedule_whose_job_is_not_understood_is_shown_but_rests() {
        store().putSchedule("nightly", "rule", TestJobs.spec("mail").build(), store().now());
        server.collection(MongoScope.SCHEDULES)
                .updateOne(
                        new Document(FieldNames.ID, "nightly"),
                        new Document("$set", new Document("job.policy", "{\"of\":\"the future\"}")));
        assertThat(store().schedules())
                .singleElement()
                .satisfies(schedule -> assertThat(schedule.paused()).isTrue());
        assertThat(store().dueSchedules(10, null))
                .allSatisfy(schedule -> assertThat(schedule.paused()).isTrue());
    }

    @Test
    void as_many_attempts_are_kept_as_the_builder_was_told() {
        MongoJobStore forgetful = MongoJobStore.builder().keepAttempts(2).of(server.client(), server.database());
        JobId id = add(TestJobs.spec("mail"));
        for (int i = 0; i < 3; i++) {
            Claim claim = claimOne();
            forgetful.settle(List.of(TestSettlements.retry(claim, only(claim), Duration.ZERO)), List.of(claim.token()));
        }
        assertThat(forgetful.attempts(id)).extracting(Attempt::number).containsExactly(2, 3);
    }

    @Test
    void a_batch_that_meets_a_number_in_use_takes_others_and_leaves_nothing_behind() {
        JobId first = add(TestJobs.spec("mail"));
        server.jobs()
                .insert(new Document("_id", first.value() + 2)
                        .append("status", "done")
                        .append("queue", "old"));
        List<JobId> ids = add(TestJobs.many(3));
        assertThat(ids).doesNotContain(new JobId(first.value() + 2)).doesNotHaveDuplicates();
        assertThat(server.jobs().count(new Document())).isEqualTo(5);
    }

    @Test
    void a_refused_batch_replaces_nothing() {
        JobId held = add(TestJobs.spec("mail").key("a", KeyRule.KEEP).payload("1"));
        add(TestJobs.spec("mail").key("b", KeyRule.KEEP));
        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> store().insert(List.of(
                        TestJobs.spec("mail")
                                .key("a", KeyRule.REPLACE)
                                .payload("2")
                                .build(),
                        TestJobs.spec("mail").key("b", KeyRule.REJECT).build())));
        assertThat(read(held).spec().payload()).isEqualTo("1");
    }

    @Test
    void a_payload_is_a_sub_document_that_can_be_queried_and_indexed() {
        JobId ada = add(TestJobs.spec("mail").payload("{\"to\":{\"name\":\"Ada\"},\"items\":[1,2]}"));
        add(TestJobs.spec("mail").payload("{\"to\":{\"name\":\"Bob\"},\"items\":[3]}"));
        server.collection(MongoScope.JOBS).createIndex(new Document("payload.to.name", 1));
        assertThat(server.jobs().first(new Document("payload.to.name", "Ada"))).containsEntry("_id", ada.value());
        assertThat(server.jobs().count(new Document("payload.items", 3))).isEqualTo(1);
        assertThat(read(ada).spec().payload()).isEqualTo("{\"to\":{\"name\":\"Ada\"},\"items\":[1,2]}");
    }

    @Test
    void every_payload_comes_back_to_the_byte_as_a_document_or_as_text() {
        List<String> documents = List.of(
                "{}",
                "{\"b\":1,\"a\":2}",
                "{\"a\":1.0,\"b\":1}",
                "{\"id\":9223372036854775807,\"small\":-2147483649}",
                "{\"price\":12.99,\"tiny\":0.000001}",
                "{\"none\":null,\"yes\":true,\"list\":[[],{},\"x\"]}",
                "{\"text\":\"Zo\u00eb \ud83d\ude00 \\n \\\"q\\\" \\\\ \\u0001\"}");
        List<String> texts = List.of(
                "17",
                "[1,2]",
                "\"text\"",
                "{ \"a\": 1 }",
                "{\"a\":1,\"a\":2}",
                "{\"id\":12345678901234567890}",
                "{\"a\":1e5}",
                "{\"a\":1.10}",
                "{\"a\":0.1234567890123456789}",
                "{\"a\":-0}",
                "{\"a\":-0.0}",
                "{\"a.b\":1}",
                "{\"$set\":{\"status\":\"done\"}}",
                "{\"at\":{\"$date\":\"2026-01-01T00:00:00Z\"}}",
                "{\"\":1}",
                "{\"a\":\"\\u00e9\"}",
                "{\"$sealed\":\"AAAA\"}",
                "{\"a\":" + "[".repeat(60) + "]".repeat(60) + "}",
                "{\"a\":[" + "1,".repeat(20_000) + "1]}",
                "{\"a\":" + "[".repeat(200_000) + "]".repeat(200_000) + "}");
        for (String payload : documents) {
            JobId id = add(TestJobs.spec("mail").payload(payload));
            assertThat(document(id).get("payload")).as(payload).isInstanceOf(Document.class);
            assertThat(read(id).spec().payload()).isEqualTo(payload);
        }
        for (String payload : texts) {
            JobId id = add(TestJobs.spec("mail").payload(payload));
            assertThat(document(id).get("payload")).isEqualTo(payload);
            assertThat(read(id).spec().payload()).isEqualTo(payload);
        }
    }

    @Test
    void a_policy_that_is_not_exponential_is_readable_too() {
        RetryPolicy table = RetryPolicy.table(Duration.ofSeconds(5), Duration.ofMinutes(1));
        assertThat(document(add(TestJobs.spec("mail").policy(table))).get("backoff_policy", Document.class))
                .containsEntry("curve", "table")
                .containsEntry("table_sec", List.of(5.0, 60.0));
        RetryPolicy linear = RetryPolicy.linear(Duration.ofSeconds(5)).jitter(Jitter.none());
        assertThat(document(add(TestJobs.spec("mail").policy(linear))).get("backoff_policy", Document.class))
                .containsEntry("curve", "linear")
                .containsEntry("base_sec", 5.0)
                .containsEntry("jitter", "none");
    }

    @Test
    void the_indexes_for_people_are_made_if_asked_for() {
        MongoJobStore readable = MongoJobStore.builder().withReadableIndexes().of(server.client(), server.database());
        readable.prepare();
        List<Document> keys = server.collection(MongoScope.JOBS)
                .listIndexes()
                .map(index -> index.get("key", Document.class))
                .into(new ArrayList<>());
        assertThat(keys)
                .contains(
                        new Document("status", 1).append("created_at", 1),
                        new Document("next_retry_at", 1),
                        new Document("status", 1).append("updated_at", 1));
    }
}
