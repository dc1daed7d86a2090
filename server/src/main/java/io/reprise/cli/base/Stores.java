// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.jdbc.JdbcBackup;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcSchema;
import io.reprise.jdbc.JdbcStoreBuilder;
import io.reprise.job.RepriseException;
import io.reprise.mongodb.MongoJobStore;
import io.reprise.mongodb.MongoStoreBuilder;
import io.reprise.server.config.Setting;
import io.reprise.server.config.Settings;
import io.reprise.store.JobStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The only class that knows which stores exist. */
public final class Stores {

    /** The target tool. The names are those on the command line. */
    public enum SchemaFormat {
        flyway,
        liquibase
    }

    private static final String SQLITE = "sqlite:";
    private static final List<String> KINDS =
            List.of(SQLITE, "postgresql://", "postgres://", "mariadb://", "mysql://", "mongodb://", "mongodb+srv://");

    private static final Pattern LOCAL =
            Pattern.compile("://(?:[^@/]*@)?(?:localhost|127\\.[0-9.]+|\\[::1])?(?:[:/?]|$)");

    private Stores() {}

    /** Opens a store in this file. Creates the file if it is missing. */
    public static JobStore sqlite(Path file) {
        return JdbcJobStore.sqlite(file);
    }

    /**
     * Opens the store of a URL: {@code sqlite:FILE}, or {@code KIND://USER@HOST/DATABASE} where KIND is postgresql,
     * mariadb, mysql or mongodb.
     */
    public static JobStore open(Settings settings) {
        String url = settings.text(Setting.STORE_URL);
        JdbcStoreBuilder builder = JdbcJobStore.builder().poolSize(settings.number(Setting.STORE_POOL));
        if (settings.flag(Setting.STORE_POOLER)) {
            builder.pollOnly();
        }
        String deadLetters = settings.textOrNull(Setting.STORE_DEAD_LETTERS);
        boolean mongo = url.startsWith("mongodb");
        BadInput.require(
                deadLetters == null || mongo,
                "store.dead-letters is for MongoDB only, and store.url names another database");
        try {
            return mongo ? mongo(deadLetters).open(url) : builder.open(url);
        } catch (IllegalArgumentException e) {
            throw new BadInput("store.url: " + e.getMessage(), e);
        }
    }

    private static MongoStoreBuilder mongo(@Nullable String deadLetters) {
        try {
            MongoStoreBuilder builder = MongoJobStore.builder();
            return deadLetters == null ? builder : builder.deadLettersIn(deadLetters);
        } catch (IllegalArgumentException e) {
            throw new BadInput("store.dead-letters: " + e.getMessage(), e);
        }
    }

    /** Whether the URL names PostgreSQL on another machine and says nothing about encryption. */
    public static boolean isInTheClear(String url) {
        String name = url.startsWith("jdbc:") ? url.substring("jdbc:".length()) : url;
        return (name.startsWith("postgresql://") || name.startsWith("postgres://"))
                && !name.contains("sslmode=")
                && !LOCAL.matcher(name).find();
    }

    /**
     * Checks only the beginning of the URL.
     *
     * @throws IllegalArgumentException if no store has such a URL
     */
    public static void requireKnownKind(String url) {
        String name = url.startsWith("jdbc:") ? url.substring("jdbc:".length()) : url;
        if (KINDS.stream().noneMatch(name::startsWith)) {
            throw new IllegalArgumentException("must begin with " + String.join(", ", KINDS));
        }
    }

    /** Opens the store of a URL. A SQLite file must exist: a mistyped name must not create an empty queue. */
    public static JobStore openExisting(Settings settings) {
        String url = settings.text(Setting.STORE_URL);
        String name = url.startsWith("jdbc:") ? url.substring("jdbc:".length()) : url;
        if (name.startsWith(SQLITE) && !Files.isRegularFile(Path.of(name.substring(SQLITE.length())))) {
            throw new BadInput("store.url: there is no file " + name.substring(SQLITE.length())
                    + "; 'reprise serve --store " + url + "' would make it");
        }
        return open(settings);
    }

    /**
     * Returns the error for a store that cannot be used. The message of a pool only says that it has no
     * connection; its cause says why.
     */
    public static BadInput unusable(RepriseException failure) {
        Throwable last = failure;
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            last = cause instanceof SQLException ? cause : last;
        }
        String message = String.valueOf(failure.getMessage());
        String why = String.valueOf(last.getMessage());
        return new BadInput("Cannot use the store: " + message + (message.contains(why) ? "" : ". " + why), failure);
    }

    /** Copies the store while other processes use it. */
    public static void backup(Settings settings, Path copy) {
        String url = settings.text(Setting.STORE_URL);
        String name = url.startsWith("jdbc:") ? url.substring("jdbc:".length()) : url;
        if (!name.startsWith(SQLITE)) {
            throw new BadInput("Only a SQLite file is copied by this program: for others see docs/backup.md");
        }
        openExisting(settings).close();
        try {
            JdbcBackup.sqlite(Path.of(name.substring(SQLITE.length())), copy);
        } catch (RepriseException e) {
            throw new BadInput(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Makes a store that was restored from a backup fit for use.
     *
     * @throws BadInput if a worker uses it
     */
    public static void afterRestore(Settings settings, boolean force) {
        try (JobStore store = openExisting(settings)) {
            store.requirePrepared();
            if (!force && !store.workers().isEmpty()) {
                throw new BadInput("Worker " + store.workers().get(0).name()
                        + " works on this store, or did a minute ago: stop all of them first, or give --force");
            }
            if (store instanceof MongoJobStore restored) {
                restored.afterRestore();
            } else {
                ((JdbcJobStore) store).afterRestore();
            }
        } catch (RepriseException e) {
            throw unusable(e);
        }
    }

    /** Returns the SQL that creates the tables. */
    public static String schema(String dialect) {
        return schema(dialect, JdbcSchema::print);
    }

    /** Returns the SQL as files for a migration tool, by file name. */
    public static Map<String, String> schemaFiles(String dialect, SchemaFormat format) {
        return schema(dialect, format == SchemaFormat.flyway ? JdbcSchema::flyway : JdbcSchema::liquibase);
    }

    private static <T> T schema(String dialect, Function<String, T> written) {
        try {
            return written.apply(dialect);
        } catch (IllegalArgumentException e) {
            throw new BadInput("Invalid value for option '--dialect': " + e.getMessage(), e);
        }
    }
}
