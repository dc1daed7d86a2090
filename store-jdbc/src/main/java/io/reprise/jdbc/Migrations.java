// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.RepriseException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/** Numbered steps from an empty database to the present schema. A step, once released, never changes. */
final class Migrations {

    private static final List<String> STEPS = List.of("001-jobs", "002-control", "003-insight", "004-document");

    static final String TABLE = """
            create table if not exists reprise_migration (
              version    integer not null primary key,
              checksum   text    not null,
              applied_at bigint  not null
            )
            """;

    private static final String REMEMBER = """
            insert into reprise_migration (version, checksum, applied_at)
            values (?, ?, {now})
            """;

    private static final Pattern END = Pattern.compile(";\\R");

    private Migrations() {}

    /** Text of all steps, in order. */
    static List<String> scripts(String dialect) {
        List<String> scripts = new ArrayList<>();
        for (String step : STEPS) {
            scripts.add(read(dialect + "/" + step + ".sql"));
        }
        return scripts;
    }

    /** Applies what is missing, in the one transaction that the session is in. */
    static void apply(Session session) throws SQLException {
        Dialect dialect = session.dialect();
        dialect.requireServer(session);
        dialect.lockSchema(session);
        try {
            applyMissing(session);
        } finally {
            dialect.unlockSchema(session);
        }
    }

    private static void applyMissing(Session session) throws SQLException {
        session.update(TABLE);
        Map<Integer, String> applied = new TreeMap<>();
        session.list(
                "select version, checksum from reprise_migration order by version",
                row -> applied.put(row.integer(), row.text()));
        List<String> scripts = scripts(session.dialect().name());
        check(applied, scripts);
        for (int version = applied.size() + 1; version <= scripts.size(); version++) {
            String script = scripts.get(version - 1);
            for (String statement : statements(script)) {
                session.define(session.dialect().definition(session, statement));
            }
            session.update(session.dialect().sql(REMEMBER), version, checksum(script));
        }
    }

    private static void check(Map<Integer, String> applied, List<String> scripts) {
        applied.forEach((version, checksum) -> {
            if (version > scripts.size()) {
                throw new RepriseException(
                        "The database is at schema version " + version + ", this program knows up to " + scripts.size()
                                + ": it was migrated by a newer Reprise. Run that version or a later one");
            }
            if (!checksum(scripts.get(version - 1)).equals(checksum)) {
                throw new RepriseException(
                        "Schema version " + version + " in the database is not the one of this program" + " (checksum "
                                + checksum + "): it was changed by hand or comes from an unreleased build");
            }
        });
    }

    /** A semicolon ends a statement at the end of a line only. */
    static List<String> statements(String script) {
        return END.splitAsStream(script)
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .toList();
    }

    static String checksum(String script) {
        CRC32 crc = new CRC32();
        crc.update(script.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }

    private static String read(String name) {
        try (InputStream in = Migrations.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalArgumentException(
                        "No schema '" + name + "': the dialects are sqlite, postgresql, mysql and mariadb");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
