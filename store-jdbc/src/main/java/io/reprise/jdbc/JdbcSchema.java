// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.util.List;

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
        return switch (dialect) {
            case "mysql" -> MySqlServer.MYSQL.definition(script("mysql"));
            case "mariadb" -> MySqlServer.MARIADB.definition(script("mysql"));
            default -> script(dialect);
        };
    }

    private static String script(String dialect) {
        List<String> scripts = Migrations.scripts(dialect);
        StringBuilder text = new StringBuilder(Migrations.TABLE.strip()).append(";\n\n");
        for (int i = 0; i < scripts.size(); i++) {
            text.append(scripts.get(i))
                    .append("\ninsert into reprise_migration (version, checksum, applied_at)\nvalues (")
                    .append(i + 1)
                    .append(", '")
                    .append(Migrations.checksum(scripts.get(i)))
                    .append("', 0);\n");
        }
        return text.toString();
    }
}
