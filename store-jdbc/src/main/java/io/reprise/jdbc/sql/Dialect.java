// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import io.reprise.store.Claim;
import io.reprise.store.Unparking;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The differences between the databases. Statements that all of them understand are written once, with words in braces,
 * which {@link SqlWords} replaces. The three layouts (SQLite, PostgreSQL, MySQL and MariaDB) share these facts. A live job
 * is a row of {@code reprise_job} with a due time. A finished job is a row of {@code {finished}} with a finish time. A
 * running job is listed by {@code reprise_held}.
 */
public interface Dialect {

    /** Product name, as {@link java.sql.DatabaseMetaData#getDatabaseProductName} returns it. */
    String product();

    /** Name of the directory of its migrations. */
    String name();

    /** The words in braces on this database. */
    SqlWords words();

    /** Returns the statement with the words in braces replaced. The result is cached. */
    default String sql(String template) {
        return words().sql(template);
    }

    /**
     * Returns the statement with the words in braces replaced, without caching. For statements that depend on a query:
     * there are too many to cache.
     */
    default String once(String template) {
        return words().once(template);
    }

    /** Whether a connection to this product belongs to this dialect. */
    default boolean isOf(String product) {
        return product().equals(product);
    }

    /** Adapts a statement of a migration to this server. */
    default String definition(Session session, String statement) throws SQLException {
        return statement;
    }

    /** Ends live jobs. Returns those that were live. */
    List<Endings.Gone> end(Session session, JobState state, @Nullable FailReason reason, long[] ids)
            throws SQLException;

    /** Deletes the finished jobs that ended before this time. Returns them. */
    List<Endings.Gone> deleteFinished(Session session, long[] ids, long before) throws SQLException;

    /** Deletes rows of counts up to {@link #newestCount}, at most {@link #countsPerFold} of them. Returns them. */
    List<Counters.Change> takeCounts(Session session, long newest) throws SQLException;

    /** How many rows of counts one transaction folds at most. */
    default int countsPerFold() {
        return Integer.MAX_VALUE;
    }

    /** The newest row of counts. A fold leaves newer rows alone, its own sums included. */
    default long newestCount(Session session) throws SQLException {
        return Long.MAX_VALUE;
    }

    /**
     * Statement that locks expired leases that hold jobs and skips leases that others have locked. Returns id, runner,
     * excused and unheard. Binds the maximum number.
     */
    String expiredSql();

    /** Puts the jobs of an expired lease under a new lease. The returned claim has no jobs yet. */
    Claim takeLease(Session session, long lost, long[] ids, String taker, Duration lease) throws SQLException;

    void dropLeases(Session session, long... tokens) throws SQLException;

    /** Deletes up to {@code max} expired leases that hold no job. Returns how many. */
    int dropEmptyLeases(Session session, int max) throws SQLException;

    /** Statement that removes a job from a lease's list. Binds job and token. */
    String leaveSql();

    /**
     * Returns the distinct values of a column, in order, however many rows have each.
     *
     * @param all finds them all by jumps through the index
     * @param next finds the least value that is greater than the bound one, or null
     */
    List<String> names(Session session, String all, String next) throws SQLException;

    /** Returns for each request the ids of its parked jobs. */
    default List<List<Long>> parked(Session session, List<Unparking> requests) throws SQLException {
        List<List<Long>> ids = new ArrayList<>();
        for (Unparking request : requests) {
            ids.add(ParkedJobs.find(session, request));
        }
        return ids;
    }

    /** Inserts a row unless a row with its key exists. Returns the number of inserted rows. */
    int insertUnlessThere(Session session, String sql, @Nullable Object... args) throws SQLException;

    /**
     * Suffix for a reading statement, so that it sees committed rows even if the caller's transaction began earlier.
     */
    default String latest(Session session) throws SQLException {
        return "";
    }

    /** Reads on a connection that sees all committed rows, even if the caller's transaction began earlier. */
    default <T> T committed(Session session, Database.Work<T> reading) throws SQLException {
        return reading.on(session);
    }

    /** Splits ids into lists of a length that the server handles well. */
    default List<long[]> pieces(long[] ids) {
        return List.of(ids);
    }

    /** Whether ended jobs are in a table of their own. */
    default boolean movesFinished() {
        return true;
    }

    /** A table {@code x} of the ids in one bound array; null where one statement inserts many rows anyway. */
    default @Nullable String idTable() {
        return null;
    }

    /** Whether a placeholder for an array becomes as many placeholders as the array has values. */
    default boolean spreadsArrays() {
        return false;
    }

    /**
     * Deletes leases whose list of jobs cannot be read, where lists are JSON. Statements that read the lists would fail
     * as long as such a lease exists. Its jobs are free again, and outcomes under it are stale.
     */
    default void dropDamagedLeases(Session session) throws SQLException {}

    /**
     * Returns the views that show jobs in these states, or all jobs if empty. Each view shows other jobs. They must be
     * read in one statement, so that a job that moves is neither missed nor seen twice.
     *
     * @param fewLive the answer of {@link #hasFewLive}
     */
    List<ShownColumns> shown(Set<JobState> states, boolean fewLive);

    /** Returns the views that show all jobs. */
    default List<ShownColumns> shown() {
        return shown(Set.of(), false);
    }

    /** Whether at most {@code most} jobs are live. Ask only where it matters. */
    default boolean hasFewLive(Session session, int most) throws SQLException {
        return false;
    }

    /** Statement that counts the tables of a name in Reprise's schema; at most one. */
    default String hasTable() {
        // pg_tables also shows tables on which the user has no right. The user then gets an error about the right, not
        // a request to create the table.
        return "select count(*) from pg_catalog.pg_tables where tablename = ? and schemaname = current_schema()";
    }

    void bindArray(PreparedStatement statement, int index, Object array) throws SQLException;

    void limit(PreparedStatement statement, int seconds) throws SQLException;

    /** Whether the store can write while a caller's transaction has written. */
    boolean writesBesideOthers();

    /** Returns a new version for control state, greater than all before. */
    long nextControlVersion(Session session) throws SQLException;

    /** Returns a new job id. */
    long nextId(Session session) throws SQLException;

    /** Keeps claims of the queue away until the transaction ends, and of the queues of jobs with needs beside it. */
    void lockQueue(Session session, String queue) throws SQLException;

    /**
     * Keeps claims of the queue away until the transaction ends, but fails with a lock timeout if it must wait
     * longer than claims take.
     */
    default void lockQueueSoon(Session session, String queue) throws SQLException {
        lockQueue(session, queue);
    }

    /** Keeps the planner from reading whole tables because of old statistics, until the transaction ends. */
    default void preferIndexes(Session session) throws SQLException {}

    /** Whether a claim may have taken a job although its row can be locked. */
    default boolean claimsWithoutRowLocks() {
        return false;
    }

    /**
     * Checks the transaction before a job is replaced in it.
     *
     * @throws IllegalArgumentException if the transaction would not see the rows that the lock of a queue protects
     */
    void requireFreshReads(Connection connection) throws SQLException;

    /**
     * Refuses a server that speaks the protocol but does not keep the guarantees that the statements need.
     *
     * @throws io.reprise.job.RepriseException if it is such a server
     */
    default void requireServer(Session session) throws SQLException {}

    /** Makes a refusal wait for the standby, as {@link Database.Refusal} says. Does nothing where no other server can become the primary. */
    default void confirm(Session session) throws SQLException {}

    /** Keeps other migrating processes away until the transaction ends, or until {@link #unlockSchema}. */
    void lockSchema(Session session) throws SQLException;

    default void unlockSchema(Session session) throws SQLException {}
}
