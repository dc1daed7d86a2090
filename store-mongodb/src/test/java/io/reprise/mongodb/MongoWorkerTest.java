// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import io.reprise.JobType;
import io.reprise.Outcome;
import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.job.JobId;
import io.reprise.retry.RetryPolicy;
import io.reprise.testkit.fixture.TestJobs;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A real worker on MongoDB. */
@Timeout(600)
class MongoWorkerTest {

    private static final JobType<String> WORK = JobType.of("work", String.class);
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static MongoServer server;

    @BeforeAll
    static void open() {
        server = new MongoServer();
    }

    @AfterAll
    static void close() {
        server.close();
    }

    /** Payloads that are texts already. */
    private static final class TextCodec implements PayloadCodec {
        @Override
        public String encode(Object value) {
            return value.toString();
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            return type.cast(json);
        }
    }

    @Test
    void a_job_that_fails_is_retried_until_it_succeeds() {
        server.empty();
        AtomicInteger runs = new AtomicInteger();
        try (Reprise reprise = Reprise.builder()
                .store(server.store())
                .codec(new TextCodec())
                .handle(WORK, (payload, job) -> {
                    if (runs.incrementAndGet() < 3) {
                        throw new IllegalStateException("not yet");
                    }
                    job.result("run " + runs);
                })
                .start()) {
            JobId id = reprise.enqueue(WORK.job("a").retry(RetryPolicy.fixed(Duration.ZERO)));
            Outcome outcome = reprise.await(id, PATIENCE);
            assertThat(outcome.succeeded()).isTrue();
            assertThat(outcome.result(String.class)).isEqualTo("run 3");
            assertThat(reprise.attempts(id)).hasSize(3);
        }
    }

    @Test
    void an_effect_and_its_completion_commit_together() {
        server.assumeReal("transactions");
        server.empty();
        MongoCollection<Document> effects =
                server.client().getDatabase(server.database()).getCollection("effects");
        effects.insertOne(new Document("_id", "sum").append("n", 0));
        AtomicInteger runs = new AtomicInteger();
        try (Reprise reprise = Reprise.builder()
                .store(server.store())
                .codec(new TextCodec())
                .handle(WORK, (payload, job) -> {
                    try (ClientSession session = server.client().startSession()) {
                        session.startTransaction();
                        effects.updateOne(
                                session, new Document("_id", "sum"), new Document("$inc", new Document("n", 1)));
                        job.complete(MongoTransaction.of(session));
                        if (runs.incrementAndGet() < 2) {
                            session.abortTransaction();
                        } else {
                            session.commitTransaction();
                        }
                    }
                })
                .start()) {
            JobId id = reprise.enqueue(WORK.job("a").retry(RetryPolicy.fixed(Duration.ZERO)));
            assertThat(reprise.await(id, PATIENCE).succeeded()).isTrue();
        }
        assertThat(runs).hasValue(2);
        assertThat(effects.find().first()).containsEntry("n", 1);
    }

    @Test
    void a_client_with_a_timeout_of_its_own_can_do_all_of_it() {
        server.assumeReal("transactions");
        server.empty();
        try (MongoClient client = MongoClients.create(server.url() + "&timeoutMS=60000");
                MongoJobStore store = MongoJobStore.of(client, server.database());
                ClientSession session = client.startSession()) {
            session.startTransaction();
            store.within(MongoTransaction.of(session)).insert(TestJobs.many(2));
            session.commitTransaction();
            store.insert(TestJobs.many(2));
            assertThat(store.claim(
                            io.reprise.testkit.fixture.TestClaims.upTo(10).build()))
                    .singleElement()
                    .satisfies(claim -> assertThat(claim.jobs()).hasSize(4));
            assertThat(store.takeOver("rescuer", Duration.ofMinutes(1), 10)).isEmpty();
        }
    }

    @Test
    void a_session_without_a_transaction_is_refused() {
        server.assumeReal("sessions");
        try (ClientSession session = server.client().startSession()) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() ->
                            server.store().within(MongoTransaction.of(session)).insert(java.util.List.of()))
                    .withMessageContaining("startTransaction");
        }
    }
}
