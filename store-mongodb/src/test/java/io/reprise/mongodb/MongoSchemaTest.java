// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.IndexOptions;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.KeyRule;
import io.reprise.mongodb.docs.FieldNames;
import io.reprise.mongodb.docs.JobDocs;
import io.reprise.mongodb.docs.MongoScope;
import io.reprise.store.StoreException;
import io.reprise.testkit.fixture.TestJobs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Indexes are there, fit what is asked, and are not taken on trust. */
class MongoSchemaTest {

    private static MongoServer server;

    @BeforeAll
    static void open() {
        server = new MongoServer();
    }

    @AfterAll
    static void close() {
        server.close();
    }

    private static MongoCollection<Document> jobs() {
        return server.collection(MongoScope.JOBS);
    }

    private static List<String> indexes() {
        List<String> names = new ArrayList<>();
        jobs().listIndexes().forEach(index -> names.add(index.getString("name")));
        return names;
    }

    @Test
    void preparing_again_and_from_many_sides_changes_nothing() {
        List<String> before = indexes();
        IntStream.range(0, 4).parallel().forEach(i -> server.store().prepare());
        assertThat(indexes()).isEqualTo(before).contains("ready", "unique_key", "idempotency");
    }

    @Test
    void a_database_that_nobody_prepared_is_refused_when_it_is_only_checked() {
        assertThatCode(() -> server.store().requirePrepared()).doesNotThrowAnyException();
        jobs().dropIndex("ready");
        try {
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> server.store().requirePrepared())
                    .matches(e -> !e.isTransient())
                    .withMessageContaining("index ready");
            assertThat(indexes()).doesNotContain("ready");
        } finally {
            server.store().prepare();
        }
        server.collection(MongoScope.ROLES).drop();
        try {
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> server.store().requirePrepared())
                    .withMessageContaining("collection");
        } finally {
            server.store().prepare();
        }
    }

    @Test
    void a_timeout_of_any_length_outside_its_bounds_is_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MongoJobStore.builder().timeout(Duration.ofSeconds(-4_294_967_000L)));
    }

    @Test
    void an_index_that_does_not_keep_keys_unique_is_refused() {
        jobs().dropIndex("unique_key");
        jobs().createIndex(new Document(FieldNames.HELD_KEY, 1), new IndexOptions().name("unique_key"));
        try {
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> server.store().prepare())
                    .matches(e -> !e.isTransient())
                    .withMessageContaining("unique_key");
        } finally {
            jobs().dropIndex("unique_key");
            server.store().prepare();
        }
    }

    @Test
    void an_index_of_other_jobs_than_ours_is_refused() {
        server.assumeReal("partial indexes");
        jobs().dropIndex("deadline");
        jobs().createIndex(new Document(FieldNames.DEADLINE, 1), new IndexOptions().name("deadline"));
        try {
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> server.store().prepare())
                    .withMessageContaining("deadline");
        } finally {
            jobs().dropIndex("deadline");
            server.store().prepare();
        }
    }

    @Test
    void an_index_that_is_missing_is_made_again() {
        jobs().dropIndex("unique_key");
        server.store().prepare();
        assertThat(indexes()).contains("unique_key");
    }

    @Test
    void stores_of_other_prefixes_know_nothing_of_each_other() {
        MongoJobStore other = MongoJobStore.builder().collectionPrefix("other_").of(server.client(), server.database());
        other.prepare();
        server.store().insert(List.of(TestJobs.spec("here").build()));
        assertThat(other.find(JobQuery.all()).items()).isEmpty();
        other.insert(List.of(TestJobs.spec("there").build()));
        assertThat(server.data().getCollection("other_jobs").countDocuments()).isEqualTo(1);
        server.empty();
    }

    @Test
    void a_store_without_keys_refuses_them_and_makes_no_unique_index() {
        MongoJobStore keyless = MongoJobStore.builder()
                .withoutKeys()
                .collectionPrefix("keyless_")
                .of(server.client(), server.database());
        keyless.prepare();
        List<Document> unique =
                server.data().getCollection("keyless_jobs").listIndexes().into(new ArrayList<>());
        unique.removeIf(index -> !FieldNames.flag(index, "unique"));
        assertThat(unique).isEmpty();
        keyless.insert(List.of(TestJobs.spec("a").build()));
        assertThat(keyless.claim(io.reprise.testkit.fixture.TestClaims.upTo(1).build()))
                .hasSize(1);
        for (JobSpec keyed : List.of(
                TestJobs.spec("a").key("k", KeyRule.KEEP).build(),
                TestJobs.spec("a").idempotencyKey("k").build())) {
            assertThatExceptionOfType(StoreException.class)
                    .isThrownBy(() -> keyless.insert(List.of(keyed)))
                    .matches(e -> !e.isTransient())
                    .withMessageContaining("withoutKeys");
        }
    }

    @Test
    void settings_out_of_bounds_are_refused_by_name() {
        MongoStoreBuilder builder = MongoJobStore.builder();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.timeout(Duration.ZERO))
                .withMessageContaining("timeout");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.keepAttempts(0))
                .withMessageContaining("keepAttempts");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.collectionPrefix("a.b"))
                .withMessageContaining("collectionPrefix");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.deadLettersIn("$dlq"))
                .withMessageContaining("deadLettersIn");
    }

    @Test
    void a_claim_reads_the_ready_index_in_its_order() {
        server.assumeReal("explain");
        String plan = jobs().find(MongoClaims.ready("default", 1)
                        .append(FieldNames.LANE, FieldNames.lane(io.reprise.store.Lane.FRESH))
                        .append(FieldNames.TURN, ""))
                .sort(JobDocs.CLAIM_ORDER)
                .limit(10)
                .explain()
                .get("queryPlanner", Document.class)
                .get("winningPlan", Document.class)
                .toJson();
        assertThat(plan).contains("\"ready\"").doesNotContain("\"SORT\"").doesNotContain("COLLSCAN");
    }

    @Test
    void what_is_asked_often_reads_an_index() {
        server.assumeReal("explain");
        List<Document> filters = List.of(
                MongoClaims.ready(FieldNames.in(List.of("a", "b")), 1),
                new Document(FieldNames.STATUS, FieldNames.PROCESSING).append(FieldNames.UNTIL, FieldNames.upTo(1)),
                new Document(FieldNames.STATUS, FieldNames.PROCESSING)
                        .append(FieldNames.TOKEN, FieldNames.in(List.of(1L))),
                new Document(FieldNames.STATUS, FieldNames.PENDING).append(FieldNames.DEADLINE, FieldNames.upTo(1)),
                new Document(FieldNames.STATUS, FieldNames.PENDING).append(FieldNames.PARKED_BY, "breaker/a"),
                new Document(FieldNames.HELD_KEY, FieldNames.in(List.of("a"))),
                new Document(FieldNames.IDEMPOTENCY_KEYS, FieldNames.in(List.of("a"))),
                MongoQueues.running("a"));
        assertThat(filters).allSatisfy(filter -> {
            Document plan = jobs().find(filter)
                    .explain()
                    .get("queryPlanner", Document.class)
                    .get("winningPlan", Document.class);
            assertThat(plan.toJson()).contains("IXSCAN").doesNotContain("COLLSCAN");
        });
    }
}
