// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcSchema;
import io.reprise.mongodb.MongoJobStore;
import io.reprise.store.JobStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** The one place that knows which stores there are. */
final class Stores {

    private static final String SQLITE = "sqlite:";

    private Stores() {}

    /** A store in this file, which is created if need be. */
    static JobStore sqlite(Path file) {
        return JdbcJobStore.sqlite(file);
    }

    /**
     * What a URL names: {@code sqlite:FILE}, or {@code KIND://USER@HOST/DATABASE} where the kind is postgresql, mariadb, mysql
     * or mongodb.
     */
    static JobStore open(String url) {
        try {
            return url.startsWith("mongodb") ? MongoJobStore.open(url) : JdbcJobStore.open(url);
        } catch (IllegalArgumentException e) {
            throw new BadInput("store.url: " + e.getMessage(), e);
        }
    }

    /** The same, but a file must be there: a name that was mistyped must not become an empty queue. */
    static JobStore openExisting(String url) {
        String name = url.startsWith("jdbc:") ? url.substring("jdbc:".length()) : url;
        if (name.startsWith(SQLITE) && !Files.isRegularFile(Path.of(name.substring(SQLITE.length())))) {
            throw new BadInput("store.url: there is no file " + name.substring(SQLITE.length())
                    + "; 'reprise serve --store " + url + "' would make it");
        }
        return open(url);
    }

    /** The SQL that creates the tables. */
    static String schema(String dialect) {
        try {
            return JdbcSchema.print(dialect);
        } catch (IllegalArgumentException e) {
            throw new BadInput("Invalid value for option '--dialect': " + e.getMessage(), e);
        }
    }
}
