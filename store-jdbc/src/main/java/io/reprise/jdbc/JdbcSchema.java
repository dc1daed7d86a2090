// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The schema as text, for those who apply it themselves. The tables are not an API. */
public final class JdbcSchema {

    private JdbcSchema() {}

    /**
     * All migrations in order, as one script that also records them, so that {@link JdbcJobStore#prepare} finds nothing
     * left to do.
     *
     * @param dialect {@code sqlite}, {@code postgresql}, {@code mysql} or {@code mariadb}
     * @throws IllegalArgumentException if it is none of these
     */
    public static String print(String dialect) {
        return String.join("", steps(dialect).values());
    }

    /**
     * The same as versioned migrations for Flyway, by the names of the files: {@code V1__reprise_jobs.sql} and so on. The
     * numbers are those of our steps; give them a history table of their own.
     */
    public static Map<String, String> flyway(String dialect) {
        Map<String, String> files = new LinkedHashMap<>();
        steps(dialect).forEach((name, script) -> {
            int number = Integer.parseInt(name.substring(0, name.indexOf('-')));
            files.put("V" + number + "__reprise_" + name.substring(name.indexOf('-') + 1) + ".sql", script);
        });
        return files;
    }

    /** The same as a changelog of formatted SQL for Liquibase, one changeset for each step, by the name of the file. */
    public static Map<String, String> liquibase(String dialect) {
        List<String> changes = new ArrayList<>(List.of("--liquibase formatted sql\n"));
        steps(dialect)
                .forEach((name, script) ->
                        changes.add("--changeset reprise:" + name + " stripComments:false\n" + script));
        return Map.of("reprise.sql", String.join("\n", changes));
    }

    /** By the names of the steps, in their order. The first also makes the table in which all are recorded. */
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
