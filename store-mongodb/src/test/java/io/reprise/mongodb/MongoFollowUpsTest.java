// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.mongodb.docs.Change;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.Mongo;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.mongodb.docs.MongoSettings;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.JobStore;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a crash leaves of the jobs that follow others, on a server without transactions. */
class MongoFollowUpsTest implements StoreFixture {

    private static final String QUEUE = "follow-ups";

    private MongoServer server;
    private MongoScope scope;
    private MongoFollowUps followUps;

    private static List<JobSpec> nothing(Job job) {
        return List.of();
    }

    @BeforeEach
    void open() {
        MongoStoreBuilder settings = MongoJobStore.builder().deadLettersIn(MongoServer.DEAD_LETTERS);
        server = new MongoServer(null, settings);
        Mongo mongo = new Mongo(
                server.client(),
                server.database(),
                new MongoSettings(Duration.ofMinutes(1), 25, "reprise_", true, false, MongoServer.DEAD_LETTERS));
        scope = mongo.plain();
        followUps = new MongoFollowUps(new MongoInserts(mongo), new JobDocs());
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Override
    public JobStore store() {
        return server.store();
    }

    private static JobSpec spec(String type) {
        return TestJobs.spec(type).queue(QUEUE).build();
    }

    /** As if the process had ended after the write that decided the job. */
    private void dieBefore(JobId job, JobSpec... following) {
        Change change = Change.none();
        followUps.attach(scope, change, List.of(following));
        assertThat(scope.jobs().update(JobDocs.byId(job), change)).isTrue();
    }

    private JobId done() {
        JobId id = add(TestJobs.spec("done"));
        Claim claim = claimOne();
        settle(TestSettlements.success(claim, only(claim)));
        return id;
    }

    private List<String> following() {
        return store().find(JobQuery.all().queue(QUEUE)).items().stream()
                .map(Job::type)
                .toList();
    }

    private Document document(JobId id) {
        Document document = server.jobs().first(JobDocs.byId(id));
        assertThat(document).isNotNull();
        return document;
    }

    @Test
    void they_become_jobs_at_the_next_upkeep_and_once() {
        JobId job = done();
        JobSpec whole = TestJobs.spec("whole")
                .queue(QUEUE)
                .priority(3)
                .resource("mail")
                .timeout(Duration.ofSeconds(5))
                .policy(RetryPolicy.fixed(Duration.ofSeconds(7)))
                .build();
        dieBefore(job, whole, spec("other"));
        assertThat(following()).isEmpty();
        store().expire(10, MongoFollowUpsTest::nothing);
        store().expire(10, MongoFollowUpsTest::nothing);
        assertThat(following()).containsExactlyInAnyOrder("whole", "other");
        assertThat(store().find(JobQuery.all().type("whole")).items())
                .extracting(Job::spec)
                .containsExactly(whole);
        assertThat(document(job)).doesNotContainKeys(FieldNames.FOLLOW_UPS, FieldNames.OWES);
        assertThat(read(job).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    void those_that_became_jobs_before_the_crash_do_not_again_even_if_they_have_ended() {
        JobId job = done();
        dieBefore(job, spec("first"), spec("second"));
        Document owing = document(job);
        store().expire(10, MongoFollowUpsTest::nothing);
        for (int i = 0; i < 2; i++) {
            Claim claim = claimOne(io.reprise.testkit.fixture.TestClaims.upTo(1).from(QUEUE));
            settle(i == 0 ? TestSettlements.success(claim, only(claim)) : TestSettlements.fail(claim, only(claim)));
        }
        // Stored, but not struck off.
        scope.jobs()
                .update(
                        JobDocs.byId(job),
                        Change.none()
                                .set(FieldNames.FOLLOW_UPS, owing.get(FieldNames.FOLLOW_UPS))
                                .set(FieldNames.OWES, owing.get(FieldNames.OWES)));
        store().expire(10, MongoFollowUpsTest::nothing);
        assertThat(following()).containsExactlyInAnyOrder("first", "second");
        assertThat(document(job)).doesNotContainKeys(FieldNames.FOLLOW_UPS, FieldNames.OWES);
    }

    @Test
    void a_unique_key_that_is_held_meanwhile_keeps_its_holder() {
        JobId job = done();
        dieBefore(job, TestJobs.spec("late").queue(QUEUE).key("k", KeyRule.KEEP).build());
        add(TestJobs.spec("early").queue(QUEUE).key("k", KeyRule.KEEP));
        store().expire(10, MongoFollowUpsTest::nothing);
        assertThat(following()).containsExactly("early");
        assertThat(document(job)).doesNotContainKeys(FieldNames.FOLLOW_UPS, FieldNames.OWES);
    }

    @Test
    void whoever_looks_after_an_expired_job_asks_what_follows_it() {
        JobId job = deadLetter(TestJobs.spec("dead"));
        assertThat(server.deadLetters().countDocuments()).isEqualTo(1);
        Document letter = server.deadLetters().find().first();
        assertThat(letter).isNotNull();
        server.deadLetters().deleteMany(new Document());
        Change change = Change.none();
        MongoFollowUps.owe(scope, change);
        server.jobs().insert(letter);
        scope.jobs().update(JobDocs.byId(job), change);

        // A dead letter is moved when nothing is owed any more.
        store().maintain();
        assertThat(server.deadLetters().countDocuments()).isZero();
        store().expire(10, expired -> List.of(spec("after-" + expired.id())));
        store().expire(10, expired -> List.of(spec("again")));
        assertThat(following()).containsExactly("after-" + job);
        store().maintain();
        assertThat(server.deadLetters().countDocuments()).isEqualTo(1);
    }
}
