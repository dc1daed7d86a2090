// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.store.StoreException;
import java.sql.SQLException;
import java.util.Set;

/**
 * Turns a database error into a StoreException with advice. It looks at codes, and at message text
 * only for missing rights.
 */
public final class SqlErrors {

    private static final Set<String> REPEATABLE = Set.of("40001", "40P01");

    /**
     * SQLState classes that a retry does not cure: data, integrity, authorisation, missing database or
     * schema, SQL, unsupported.
     */
    private static final Set<String> LASTING = Set.of("22", "23", "28", "3D", "3F", "42", "0A");

    private static final int LOCK_WAIT = 1205;
    private static final int DEADLOCK = 1213;

    private SqlErrors() {}

    /** Whether the transaction lost a conflict and may be run again unchanged. */
    public static boolean isRepeatable(SQLException e) {
        return e.getSQLState() != null && REPEATABLE.contains(e.getSQLState());
    }

    /** Whether the statement did not get a lock in time. */
    public static boolean isLockTimeout(StoreException e) {
        return e.getCause() instanceof SQLException cause
                && ("55P03".equals(cause.getSQLState()) || cause.getErrorCode() == LOCK_WAIT);
    }

    /** Whether the server refuses writes, as a standby does. */
    public static boolean isReadOnly(SQLException e) {
        return "25006".equals(e.getSQLState());
    }

    public static StoreException postgres(String what, SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        String advice = switch (state) {
            case "42P01", "42883", "42703" ->
                ". The schema is missing or old: call prepare(), or apply the migrations of JdbcSchema.print";
            case "42501" ->
                String.valueOf(e.getMessage()).contains("for schema")
                        ? ". The database user may not create tables: let their owner apply JdbcSchema.print, or start once as the owner"
                        : ". The database user lacks a right: grant select, insert, update and delete on Reprise's tables,"
                                + " and usage on its sequences";
            case "28P01", "28000" -> ". Check the user, its password and pg_hba.conf";
            case "3D000" -> ". Create the database, or correct its name in the URL";
            case "25006" -> ". The server is a standby: name all hosts in the URL, with targetServerType=primary";
            case "57014" -> ". The statement ran into its timeout: look for locks or load on the server";
            default -> "";
        };
        boolean isTransient = state.length() < 2 || !LASTING.contains(state.substring(0, 2));
        return new StoreException(
                "PostgreSQL could not " + what + ": " + e.getMessage() + " (SQLState " + state + ")" + advice,
                e,
                isTransient);
    }

    /**
     * Whether the transaction met a deadlock, or waited too long for a lock. MySQL undoes the statement; the
     * store rolls back the rest.
     */
    public static boolean isMySqlVictim(SQLException e) {
        return e.getErrorCode() == DEADLOCK || e.getErrorCode() == LOCK_WAIT || isRepeatable(e);
    }

    public static StoreException mysql(String what, SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        String advice = switch (e.getErrorCode()) {
            case 1146, 1054, 1305 ->
                ". The schema is missing or old: call prepare(), or apply the migrations of JdbcSchema.print";
            case 1142, 1143, 1227 ->
                String.valueOf(e.getMessage()).contains("CREATE command")
                        ? ". The database user may not create tables: let their owner apply JdbcSchema.print, or start once as the owner"
                        : ". The database user lacks a right: grant select, insert, update and delete on Reprise's tables";
            case 1045, 1698 -> ". Check the user and its password";
            case 1044, 1049 -> ". Create the database and grant the user rights on it, or correct its name in the URL";
            case 1153 -> ". The server takes no packet of this size: raise max_allowed_packet to 16M or more";
            case LOCK_WAIT -> ". Somebody holds a lock for long: look for an open transaction";
            case 1317, 1969, 3024 -> ". The statement ran into its timeout: look for locks or load on the server";
            default -> "";
        };
        // 70100 and HY000 do not say whether the error lasts. The SQLState classes do.
        boolean isTransient = isMySqlVictim(e) || state.length() < 2 || !LASTING.contains(state.substring(0, 2));
        return new StoreException(
                "MySQL could not " + what + ": " + e.getMessage() + " (SQLState " + state + ", error "
                        + e.getErrorCode() + ")" + advice,
                e,
                isTransient);
    }

    public static StoreException sqlite(String what, String file, SQLException e) {
        int code = e.getErrorCode() & 0xff;
        String prefix = "SQLite could not " + what + " in " + file + ": ";
        return switch (code) {
            case 5, 6 ->
                new StoreException(
                        prefix
                                + "another process or connection holds the write lock beyond the busy timeout. Look for a"
                                + " long transaction on this file, or raise the timeout",
                        e,
                        true);
            case 8 ->
                new StoreException(
                        prefix + "the file or its directory is read-only. Make both writable for this user", e, false);
            case 9 -> new StoreException(prefix + "it took too long. Ask for less, such as a smaller page", e, true);
            case 10 ->
                new StoreException(prefix + "reading or writing the disk failed (" + e.getMessage() + ")", e, true);
            case 11 ->
                new StoreException(
                        prefix + "the file is damaged. Stop all workers, keep a copy, and restore a backup", e, false);
            case 13 ->
                new StoreException(
                        prefix + "the disk is full. Free space on it; nothing that was committed is lost", e, true);
            case 14 ->
                new StoreException(
                        prefix + "the file cannot be opened. Its directory must exist and be writable for this user",
                        e,
                        false);
            case 26 -> new StoreException(prefix + "the file is not an SQLite database. Name another file", e, false);
            case 1 ->
                new StoreException(prefix + e.getMessage() + ". If a table is missing, call prepare() first", e, false);
            default -> new StoreException(prefix + e.getMessage(), e, code != 19 && code != 20);
        };
    }
}
