// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.insight.LogLine;
import io.reprise.job.AuditNote;
import io.reprise.job.JobChange;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.RefusedException;
import io.reprise.job.WaitReason;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.JobStore;
import io.reprise.store.Lane;
import io.reprise.store.LogPart;
import io.reprise.store.Requeue;
import io.reprise.store.Unparking;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.bson.BsonValue;
import org.bson.Document;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What others do between two commands of one action, on a server without transactions. */
class MongoBetweenTest implements StoreFixture {

    private static final AuditNote NOTE = new AuditNote("ada", null);
    private static final Requeue NOW = new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE);
    private static final TestClaims IN_ORDER = TestClaims.upTo(10)
            .demands(new Demand(JobSpec.DEFAULT_QUEUE, 10, GroupRules.EQUAL.limit("in-*", FlowLimit.inOrder())));

    @AutoClose
    private final MongoServer server = new MongoServer(null);

    @Override
    public JobStore store() {
        return server.store();
    }

    /** Does something with a store whose commands are interrupted. */
    private void interrupted(CommandListener listener, Consumer<JobStore> work) {
        MongoClientSettings settings = MongoClientSettings.builder()
                .applyConnectionString(new ConnectionString(server.urlThrough(server.port())))
                .addCommandListener(listener)
                .build();
        try (MongoClient client = MongoClients.create(settings);
                JobStore slow = MongoJobStore.builder().of(client, server.database())) {
            work.accept(slow);
        }
    }

    /** Runs this before the nth command of this name on the collection is sent. */
    private static CommandListener before(String command, String collection, int nth, Runnable action) {
        AtomicInteger met = new AtomicInteger();
        return new CommandListener() {
            @Override
            public void commandStarted(CommandStartedEvent event) {
                BsonValue of = event.getCommand().get(event.getCommandName());
                if (event.getCommandName().equals(command)
                        && of.isString()
                        && of.asString().getValue().equals("reprise_" + collection)
                        && met.incrementAndGet() == nth) {
                    action.run();
                }
            }
        };
    }

    /** Runs this after the nth search of the collection. */
    private static CommandListener after(String collection, int nth, Runnable action) {
        AtomicInteger met = new AtomicInteger();
        return new CommandListener() {
            @Override
            public void commandSucceeded(CommandSucceededEvent event) {
                if (event.getCommandName().equals("find")
                        && event.getResponse()
                                .getDocument("cursor")
                                .getString("ns")
                                .getValue()
                                .endsWith(".reprise_" + collection)
                        && met.incrementAndGet() == nth) {
                    action.run();
                }
            }
        };
    }

    private static JobSpec report() {
        return TestJobs.spec("report").dueAt(JobSpec.MAX_DUE).build();
    }

    @Test
    void an_old_batch_that_gets_a_member_during_upkeep_keeps_the_job_that_waits_for_it() {
        store().createBatch("old", null, report());
        JobId report = Objects.requireNonNull(store().batch("old").orElseThrow().onEnd());
        server.collection(MongoScope.BATCHES)
                .updateMany(new Document(), new Document("$set", new Document("created_us", 0L)));
        interrupted(after(MongoScope.BATCHES, 2, () -> add(TestJobs.spec("part").batch("old"))), JobStore::maintain);
        assertThat(store().batch("old").orElseThrow().total()).isEqualTo(1);
        assertThat(read(report).state()).isEqualTo(JobState.PENDING);
    }

    @Test
    void a_batch_ends_that_is_closed_while_a_member_is_refused() {
        store().createBatch("nightly", null, report());
        JobSpec.Builder member = TestJobs.spec("part").batch("nightly").key("k", KeyRule.KEEP);
        Runnable close = () -> {
            add(TestJobs.spec("other").key("k", KeyRule.KEEP));
            store().closeBatch("nightly");
        };
        interrupted(
                before("insert", MongoScope.JOBS, 1, close),
                slow -> assertThatThrownBy(() -> slow.insert(List.of(member.build())))
                        .isInstanceOf(RefusedException.class));
        assertThat(store().batch("nightly").orElseThrow().endedAt()).isNotNull();
    }

    @Test
    void a_job_that_follows_goes_as_it_was_replaced() {
        JobSpec.Builder next = TestJobs.spec("work").key("k", KeyRule.FOLLOW);
        add(next);
        Claim holder = claimOne();
        JobId follower = add(next);
        succeed(holder);
        awaitNextInstant();
        Runnable replace =
                () -> add(TestJobs.spec("work").key("k", KeyRule.FOLLOW).delay(Duration.ofDays(1)));
        interrupted(after(MongoScope.JOBS, 3, replace), slow -> slow.letFollow(10));
        store().letFollow(10);
        assertThat(read(follower).status().waitReason()).isEqualTo(WaitReason.DELAYED);
    }

    @Test
    void a_job_that_is_unparked_while_a_person_changes_it_waits_for_no_breaker() {
        JobId id = add(TestJobs.spec("work"));
        server.collection(MongoScope.JOBS)
                .updateMany(
                        new Document(),
                        new Document(
                                "$set",
                                new Document(FieldNames.PARKED, true)
                                        .append(FieldNames.PARKED_BY, "mail")
                                        .append(FieldNames.WAIT_REASON, WaitReason.BREAKER.name())));
        Runnable unpark =
                () -> store().unpark(List.of(Unparking.backlog("mail", 1).freely()));
        interrupted(
                before("update", MongoScope.JOBS, 1, unpark),
                slow -> assertThat(slow.changeAll(Map.of(id, JobChange.NONE.withPriority(5)), NOTE))
                        .containsEntry(id, JobChange.Answer.DONE));
        assertThat(read(id).spec().priority()).isEqualTo(5);
        assertThat(read(id).status().waitReason()).isNotEqualTo(WaitReason.BREAKER);
    }

    @Test
    void a_job_that_became_a_suspect_after_a_look_is_not_claimed_with_others() {
        JobId suspect = add(TestJobs.spec("work"));
        JobId other = add(TestJobs.spec("work"));
        Runnable lose = () -> server.collection(MongoScope.JOBS)
                .updateOne(
                        new Document(FieldNames.ID, suspect.value()),
                        new Document("$set", new Document(FieldNames.LANE, FieldNames.lane(Lane.SUSPECT))));
        interrupted(
                before("update", MongoScope.JOBS, 1, lose),
                slow -> assertThat(TestClaims.ids(slow.claim(TestClaims.upTo(10).build())))
                        .containsExactly(other));
    }

    @Test
    void a_job_that_was_put_off_before_it_started_keeps_no_group_back() {
        JobId first = add(TestJobs.spec("work").group("in-1"));
        JobId second = add(TestJobs.spec("work").group("in-1"));
        Map<JobId, JobChange> putOff = Map.of(first, JobChange.NONE.at(JobSpec.MAX_DUE));
        interrupted(
                before("update", MongoScope.JOBS, 1, () -> store().changeAll(putOff, NOTE)),
                slow -> slow.claim(IN_ORDER.build()));
        store().claim(IN_ORDER.build());
        assertThat(read(second).state()).isEqualTo(JobState.RUNNING);
    }

    @Test
    void a_dead_letter_that_is_put_back_while_old_ones_are_deleted_keeps_its_log() {
        JobId id = deadLetter(TestJobs.spec("work"));
        store().writeLog(List.of(new LogPart(id, 1, 0, List.of(new LogLine(1, store().now(), "line")))));
        awaitNextInstant();
        interrupted(
                after(MongoScope.JOBS, 1, () -> store().requeue(id, NOW, NOTE)),
                slow -> assertThat(slow.prune(Set.of(JobState.FAILED), Duration.ZERO, 10))
                        .isZero());
        assertThat(store().log(id, 0)).hasSize(1);
    }

    @Test
    void a_dead_letter_that_is_put_back_and_started_during_upkeep_keeps_its_group_back() {
        JobId first = add(TestJobs.spec("work").group("in-1"));
        add(TestJobs.spec("work").group("in-1"));
        Claim claim = claimOne(IN_ORDER);
        settle(TestSettlements.fail(claim, only(claim)));
        assertThat(read(first).state()).isEqualTo(JobState.FAILED);
        Runnable putBack = () -> {
            store().requeue(first, NOW, NOTE);
            Claim again = claimOne(IN_ORDER);
            settle(TestSettlements.retry(again, only(again), Duration.ofHours(1)));
        };
        interrupted(before("delete", MongoScope.RATES, 2, putBack), JobStore::maintain);
        assertThat(read(first).state()).isEqualTo(JobState.PENDING);
        assertThat(claim(IN_ORDER)).isEmpty();
    }
}
