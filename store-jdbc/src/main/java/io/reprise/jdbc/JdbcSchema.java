// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.jdbc.mysql.MySqlServer;
import io.reprise.jdbc.sql.Migrations;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The schema as text, for people who apply migrations themselves. The tables are not an API: they change between
 * versions. Thread-safe.
 *
 * @since 0.1.0
 */
public final class JdbcSchema {

    private JdbcSchema() {}

    /**
     * Returns all migrations in order as one script. The script records the migrations, so that
     * {@link JdbcJobStore#prepare} finds nothing left to do.
     *
     * @param dialect {@code sqlite}, {@code postgresql}, {@code mysql} or {@code mariadb}
     * @throws IllegalArgumentException if there is no such dialect
     */
    public static String print(String dialect) {
        return String.join("", steps(dialect).values());
    }

    /**
     * Returns all migrations as versioned files for Flyway: {@code V1__reprise_jobs.sql} and so on. Their numbers are
     * the numbers of Reprise's migrations. Give them a history table of their own.
     *
     * @param dialect {@code sqlite}, {@code postgresql}, {@code mysql} or {@code mariadb}
     * @return content by name of the file, in order
     * @throws IllegalArgumentException if there is no such dialect
     */
    public static Map<String, String> flyway(String dialect) {
        Map<String, String> files = new LinkedHashMap<>();
        steps(dialect).forEach((name, script) -> {
            int number = Integer.parseInt(name.substring(0, name.indexOf('-')));
            files.put("V" + number + "__reprise_" + name.substring(name.indexOf('-') + 1) + ".sql", script);
        });
        return files;
    }

    /**
     * Returns all migrations as one changelog of formatted SQL for Liquibase, with one changeset for each migration.
     *
     * @param dialect {@code sqlite}, {@code postgresql}, {@code mysql} or {@code mariadb}
     * @return content by name of the file: one entry, {@code reprise.sql}
     * @throws IllegalArgumentException if there is no such dialect
     */
    public static Map<String, String> liquibase(String dialect) {
        List<String> changes = new ArrayList<>(List.of("--liquibase formatted sql\n"));
        steps(dialect)
                .forEach((name, script) ->
                        changes.add("--changeset reprise:" + name + " stripComments:false\n" + script));
        return Map.of("reprise.sql", String.join("\n", changes));
    }

    /** The migrations by name, in order. The first one also creates the table in which all are recorded. */
    private static Map<String, String> steps(String dialect) {
        return switch (dialect) {
            case "mysql" -> steps("mysql", MySqlServer.MYSQL);
            case "mariadb" -> steps("mysql", MySqlServer.MARIADB);
            default -> scripts(dialect);
        };
    }

    private static Map<String, String> steps(String dialect, MySqlServer server) {
        Map<String, String> steps = scripts(dialect);
        steps.replaceAll((name, script) -> server.definition(script));
        return steps;
    }

    private static Map<String, String> scripts(String dialect) {
        List<String> scripts = Migrations.scripts(dialect);
        Map<String, String> steps = new LinkedHashMap<>();
        for (int i = 0; i < scripts.size(); i++) {
            String before = i == 0 ? Migrations.TABLE.strip() + ";\n\n" : "";
            steps.put(Migrations.STEPS.get(i), before + scripts.get(i) + remember(i + 1, scripts.get(i)));
        }
        return steps;
    }

    private static String remember(int version, String script) {
        return "\ninsert into reprise_migration (version, checksum, applied_at, min_reader)\nvalues (" + version + ", '"
                + Migrations.checksum(script) + "', 0, " + Migrations.minReader(version) + ");\n";
    }
}
