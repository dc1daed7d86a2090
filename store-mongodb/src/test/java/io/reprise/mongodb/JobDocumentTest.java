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
                .containsEntry("payload", "{}");
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
}
