// SPDX-License-Identifier: Apache-2.0
package io.reprise.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.IndexOptions;
import io.reprise.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Indexes are there, fit what is asked, and are not taken on trust. */
class SchemaTest {

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
        return server.client().getDatabase(server.database()).getCollection(Scope.JOBS);
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
    void an_index_that_does_not_keep_keys_unique_is_refused() {
        jobs().dropIndex("unique_key");
        jobs().createIndex(new Document(Fields.HELD_KEY, 1), new IndexOptions().name("unique_key"));
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
    void a_claim_reads_the_ready_index_in_its_order() {
        server.assumeReal("explain");
        String plan = jobs().find(Claims.ready("default", 1).append(Fields.LANE, Fields.FRESH))
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
                Claims.ready(Fields.in(List.of("a", "b")), 1),
                new Document(Fields.STATUS, Fields.PROCESSING).append(Fields.UNTIL, Fields.upTo(1)),
                new Document(Fields.STATUS, Fields.PROCESSING).append(Fields.TOKEN, Fields.in(List.of(1L))),
                new Document(Fields.STATUS, Fields.PENDING).append(Fields.DEADLINE, Fields.upTo(1)),
                new Document(Fields.STATUS, Fields.PENDING).append(Fields.PARKED_BY, "breaker/a"),
                new Document(Fields.HELD_KEY, Fields.in(List.of("a"))),
                new Document(Fields.IDEMPOTENCY_KEYS, Fields.in(List.of("a"))),
                Queues.running("a"));
        assertThat(filters).allSatisfy(filter -> {
            Document plan = jobs().find(filter)
                    .explain()
                    .get("queryPlanner", Document.class)
                    .get("winningPlan", Document.class);
            assertThat(plan.toJson()).contains("IXSCAN").doesNotContain("COLLSCAN");
        });
    }
}
