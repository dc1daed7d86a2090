// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.job.RepriseException;
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

/**
 * Numbered steps from an empty database to the present schema. A released step never changes: its
 * checksum covers the whole text.
 */
public final class Migrations {

    public static final List<String> STEPS = List.of(
            "001-jobs",
            "002-control",
            "003-insight",
            "004-document",
            "005-series",
            "006-groups",
            "007-steps",
            "008-batches",
            "009-following",
            "010-placement");

    public static final String TABLE = """
            create table if not exists reprise_migration (
              version    integer not null primary key,
              checksum   text    not null,
              applied_at bigint  not null,
              min_reader integer not null
            )
            """;

    private static final String REMEMBER = """
            insert into reprise_migration (version, checksum, applied_at, min_reader)
            values (?, ?, {now}, ?)
            """;

    /**
     * For each step, the lowest schema version that a program must know to work with a database at this step. Programs
     * from that version on may run side by side.
     */
    private static final List<Integer> MIN_READERS = List.of(4, 4, 4, 4, 5, 6, 6, 6, 6, 6);

    /** A step that was applied. */
    private record Applied(String checksum, int minReader) {}

    private static final Pattern END = Pattern.compile(";\\R");

    private Migrations() {}

    /** Returns the text of all steps, in order. */
    public static List<String> scripts(String dialect) {
        List<String> scripts = new ArrayList<>();
        for (String step : STEPS) {
            scripts.add(read(dialect + "/" + step + ".sql"));
        }
        return scripts;
    }

    /** Applies the missing steps in the transaction of the session. */
    public static void apply(Session session) throws SQLException {
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
        List<String> scripts = scripts(session.dialect().name());
        // Reads first: a user without the right to create tables can use an up-to-date schema.
        Map<Integer, Applied> applied = applied(session);
        check(applied, scripts);
        if (applied.size() >= scripts.size()) {
            return;
        }
        if (applied.isEmpty()) {
            session.update(TABLE);
        }
        for (int version = applied.size() + 1; version <= scripts.size(); version++) {
            String script = scripts.get(version - 1);
            for (String statement : statements(script)) {
                session.define(session.dialect().definition(session, statement));
            }
            session.update(session.dialect().sql(REMEMBER), version, checksum(script), minReader(version));
        }
    }

    /** Returns the schema version that a program must know to work with a database at this step. */
    public static int minReader(int version) {
        return MIN_READERS.get(version - 1);
    }

    /** Refuses a schema that {@link #apply} would have to change. */
    public static void require(Session session) throws SQLException {
        List<String> scripts = scripts(session.dialect().name());
        Map<Integer, Applied> applied = applied(session);
        check(applied, scripts);
        if (applied.size() < scripts.size()) {
            throw new RepriseException(
                    "The database is at schema version " + applied.size() + ", and this program needs " + scripts.size()
                            + ": apply what 'reprise schema print' shows, or let a server migrate it");
        }
    }

    private static Map<Integer, Applied> applied(Session session) throws SQLException {
        Map<Integer, Applied> applied = new TreeMap<>();
        if (session.first(session.dialect().hasTable(), SqlRow::number, "reprise_migration")
                .filter(tables -> tables > 0)
                .isPresent()) {
            session.list(
                    "select version, checksum, min_reader from reprise_migration order by version",
                    row -> applied.put(row.integer(), new Applied(row.text(), row.integer())));
        }
        return applied;
    }

    private static void check(Map<Integer, Applied> applied, List<String> scripts) {
        applied.forEach((version, step) -> {
            if (version > scripts.size()) {
                requireReadable(version, step, scripts.size());
            } else if (!checksum(scripts.get(version - 1)).equals(step.checksum)) {
                throw new RepriseException(
                        "Schema version " + version + " in the database is not the one of this program" + " (checksum "
                                + step.checksum + "): it was changed by hand or comes from an unreleased build");
            }
        });
    }

    /** Accepts a schema that a newer program has migrated, if this program can work with it. */
    private static void requireReadable(int version, Applied step, int known) {
        if (step.minReader > known) {
            throw new RepriseException("The database is at schema version " + version + ", this program knows up to "
                    + known + ": it was migrated by a newer Reprise. Run that version or a later one");
        }
    }

    /** Splits a script. A semicolon ends a statement only at the end of a line. */
    public static List<String> statements(String script) {
        return END.splitAsStream(script)
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .toList();
    }

    public static String checksum(String script) {
        CRC32 crc = new CRC32();
        crc.update(script.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }

    private static String read(String name) {
        try (InputStream in = Migrations.class.getResourceAsStream("/io/reprise/jdbc/" + name)) {
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
