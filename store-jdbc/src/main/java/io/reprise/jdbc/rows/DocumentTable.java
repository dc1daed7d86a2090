// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.rows;

import io.reprise.jdbc.sql.Params;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import io.reprise.job.AuditNote;
import io.reprise.job.Page;
import io.reprise.store.Document;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Reads and writes {@code reprise_document}. The primary key serves every statement. */
public final class DocumentTable {

    private static final String FIND = """
            select kind, id, version, json
              from reprise_document
             where kind = ? and id = ?
            """;

    private static final String PAGE = """
            select kind, id, version, json
              from reprise_document
             where kind = ? and id > ?
             order by id
             limit ?
            """;

    // Compare and set in one statement: the loser of a race changes nothing.
    private static final String CREATE = """
            insert into reprise_document (kind, id, version, json)
            values (?, ?, ?, ?)
            """;

    private static final String CHANGE = """
            update reprise_document
               set version = :new_version, json = :json
             where kind = :kind and id = :id and version = :version
            """;

    private static final String REMOVE = """
            delete from reprise_document
             where kind = ? and id = ? and version = ?
            """;

    private DocumentTable() {}

    public static Optional<Document> find(Session session, String kind, String id) throws SQLException {
        return session.first(FIND, DocumentTable::read, kind, id);
    }

    public static Page<Document> page(Session session, String kind, int limit, @Nullable String after)
            throws SQLException {
        List<Document> found = session.list(PAGE, DocumentTable::read, kind, after == null ? "" : after, limit + 1);
        boolean more = found.size() > limit;
        return new Page<>(
                more ? found.subList(0, limit) : found,
                more ? found.get(limit - 1).id() : null);
    }

    public static OptionalLong put(
            Session session, Document document, @Nullable String action, @Nullable AuditNote note) throws SQLException {
        long version = session.dialect().nextControlVersion(session);
        String kind = document.kind();
        String id = document.id();
        int written = document.version() == 0
                ? session.dialect().insertUnlessThere(session, CREATE, kind, id, version, document.json())
                : session.update(
                        CHANGE,
                        Params.of("new_version", version)
                                .and("json", document.json())
                                .and("kind", kind)
                                .and("id", id)
                                .and("version", document.version()));
        note(session, written, document, action, note);
        return written == 1 ? OptionalLong.of(version) : OptionalLong.empty();
    }

    public static boolean remove(Session session, Document document, @Nullable String action, @Nullable AuditNote note)
            throws SQLException {
        int removed = session.update(REMOVE, document.kind(), document.id(), document.version());
        note(session, removed, document, action, note);
        return removed == 1;
    }

    private static void note(
            Session session, int written, Document document, @Nullable String action, @Nullable AuditNote note)
            throws SQLException {
        if (written == 1 && action != null && note != null) {
            AuditTable.write(session, action, null, document.subject(), note, note.detail());
        }
    }

    private static Document read(SqlRow row) throws SQLException {
        return new Document(row.text(), row.text(), row.number(), row.text());
    }
}
