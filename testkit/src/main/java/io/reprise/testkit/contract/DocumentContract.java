// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.reprise.job.AuditEntry;
import io.reprise.job.Page;
import io.reprise.store.Document;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Documents that are stored beside the jobs. */
public interface DocumentContract extends StoreFixture {

    String KIND = "key";

    @Test
    default void a_document_is_stored_and_read() {
        String json = "{\"name\":\"it's \\u0000 ä\"}";
        long version = store().putDocument(new Document(KIND, "a", 0, json)).orElseThrow();
        assertThat(store().document(KIND, "a")).contains(new Document(KIND, "a", version, json));
        assertThat(store().document("policy", "a")).isEmpty();
        assertThat(store().document(KIND, "A")).isEmpty();
    }

    @Test
    default void only_the_first_of_two_puts_counts() {
        long first = store().putDocument(new Document(KIND, "a", 0, "1")).orElseThrow();
        assertThat(store().putDocument(new Document(KIND, "a", 0, "2"))).isEmpty();
        long second = store().putDocument(new Document(KIND, "a", first, "3")).orElseThrow();
        assertThat(second).isGreaterThan(first);
        assertThat(store().putDocument(new Document(KIND, "a", first, "4"))).isEmpty();
        assertThat(store().document(KIND, "a")).contains(new Document(KIND, "a", second, "3"));
    }

    @Test
    default void a_removed_document_comes_back_with_a_greater_version() {
        Document document = new Document(KIND, "a", 0, "1");
        long first = store().putDocument(document).orElseThrow();
        assertThat(store().removeDocument(document)).isFalse();
        assertThat(store().removeDocument(new Document(KIND, "a", first, ""))).isTrue();
        assertThat(store().document(KIND, "a")).isEmpty();
        assertThat(store().putDocument(new Document(KIND, "a", first, "2"))).isEmpty();
        assertThat(store().putDocument(document).orElseThrow()).isGreaterThan(first);
    }

    @Test
    default void documents_of_a_kind_come_in_pages_by_id() {
        for (String id : List.of("b", "a", "B", "a-1", "c", "a.1", "a1")) {
            store().putDocument(new Document(KIND, id, 0, "1")).orElseThrow();
        }
        store().putDocument(new Document("kez", "a", 0, "1")).orElseThrow();
        store().putDocument(new Document("key1", "a", 0, "1")).orElseThrow();
        Page<Document> first = store().documents(KIND, 4, null);
        assertThat(first.items()).extracting(Document::id).containsExactly("B", "a", "a-1", "a.1");
        Page<Document> second = store().documents(KIND, 4, first.next());
        assertThat(second.items()).extracting(Document::id).containsExactly("a1", "b", "c");
        assertThat(second.next()).isNull();
        assertThat(store().documents(KIND, 7, null).next()).isNull();
        assertThat(store().documents("none", 1, null).items()).isEmpty();
    }

    @Test
    default void what_is_done_to_a_document_by_hand_is_noted_if_it_counts() {
        Document document = new Document(KIND, "a", 0, "1");
        long version = store().putDocument(document, "create-key", NOTE).orElseThrow();
        assertThat(store().putDocument(document, "create-key", NOTE)).isEmpty();
        assertThat(store().removeDocument(document, "revoke-key", NOTE)).isFalse();
        assertThat(store().removeDocument(new Document(KIND, "a", version, "1"), "revoke-key", NOTE))
                .isTrue();
        assertThat(store().audit(null, 10))
                .extracting(AuditEntry::action, AuditEntry::subject, AuditEntry::note)
                .containsExactly(tuple("revoke-key", "key/a", NOTE), tuple("create-key", "key/a", NOTE));
    }

    @Test
    default void what_exactly_changed_in_a_document_is_noted_if_it_is_said() {
        Document document = new Document(KIND, "a", 0, "1");
        long version = store().putDocument(document, "put-policy", NOTE.changing("from 0 to 1"))
                .orElseThrow();
        store().removeDocument(new Document(KIND, "a", version, "1"), "delete-policy", NOTE.changing("it was 1"));
        assertThat(store().audit(null, 10))
                .extracting(AuditEntry::detail, AuditEntry::note)
                .containsExactly(tuple("it was 1", NOTE), tuple("from 0 to 1", NOTE));
    }

    @Test
    default void many_threads_lose_no_change_of_a_document() {
        int each = 10;
        store().putDocument(new Document(KIND, "n", 0, "0")).orElseThrow();
        Crowd.run(4, number -> {
            for (int done = 0; done < each; ) {
                Document read = store().document(KIND, "n").orElseThrow();
                int next = Integer.parseInt(read.json()) + 1;
                if (store().putDocument(read.with(Integer.toString(next))).isPresent()) {
                    done++;
                }
            }
        });
        assertThat(store().document(KIND, "n").orElseThrow().json()).isEqualTo(Integer.toString(4 * each));
    }
}
