// SPDX-License-Identifier: Apache-2.0
package io.reprise.testing;

import io.reprise.job.Page;
import io.reprise.store.Document;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Documents that are stored beside the jobs. */
final class MemoryDocuments {

    /** A character that sorts before every character of a kind, so that the documents of one kind stand together. */
    private static final char SEPARATOR = ' ';

    private final NavigableMap<String, Document> rows = new TreeMap<>();
    private long lastVersion;

    Optional<Document> find(String kind, String id) {
        return Optional.ofNullable(rows.get(key(kind, id)));
    }

    Page<Document> page(String kind, int limit, @Nullable String after) {
        List<Document> found = rows.tailMap(key(kind, after == null ? "" : after), false).values().stream()
                .takeWhile(document -> document.kind().equals(kind))
                .limit(limit + 1L)
                .toList();
        boolean more = found.size() > limit;
        return new Page<>(
                more ? found.subList(0, limit) : found,
                more ? found.get(limit - 1).id() : null);
    }

    OptionalLong put(Document document) {
        String key = key(document.kind(), document.id());
        Document stored = rows.get(key);
        if ((stored == null ? 0 : stored.version()) != document.version()) {
            return OptionalLong.empty();
        }
        rows.put(key, new Document(document.kind(), document.id(), ++lastVersion, document.json()));
        return OptionalLong.of(lastVersion);
    }

    boolean remove(Document document) {
        String key = key(document.kind(), document.id());
        Document stored = rows.get(key);
        return stored != null && stored.version() == document.version() && rows.remove(key, stored);
    }

    private static String key(String kind, String id) {
        return kind + SEPARATOR + id;
    }
}
