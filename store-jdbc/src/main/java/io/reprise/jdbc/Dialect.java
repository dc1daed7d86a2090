// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobState;
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
 * What differs between the databases. Statements that both understand are written once with words in braces; the two
 * layouts share these facts: a live job is a row of {@code reprise_job} with a due time, a finished one is a row of
 * {@code {finished}} with a finish time, and a running one is listed by {@code reprise_held}.
 */
interface Dialect {

    /** As {@link java.sql.DatabaseMetaData#getDatabaseProductName} says it. */
    String product();

    /** Name of the directory of its migrations. */
    String name();

    /** The statement with the words in braces replaced. */
    String sql(String template);

    /** The same for one that is put together of what somebody asks for: there are too many of these to keep them. */
    String once(String template);

    /** Whether a connection to this product is one to such a database. */
    default boolean isOf(String product) {
        return product().equals(product);
    }

    /** A statement of a migration as this server understands it. */
    default String definition(Session session, String statement) throws SQLException {
        return statement;
    }

    /** Ends live jobs, and returns those that were. */
    List<Endings.Gone> end(Session session, JobState state, @Nullable FailReason reason, long[] ids)
            throws SQLException;

    /** Deletes those of the finished jobs that ended by then, and returns them. */
    List<Endings.Gone> deleteFinished(Session session, long[] ids, long before) throws SQLException;

    /** Deletes changes of counts up to {@link #newestCount}, so many at once, and returns them. */
    List<Counters.Change> takeCounts(Session session, long newest) throws SQLException;

    /** How many changes of counts are folded in one transaction at most. */
    default int countsPerFold() {
        return Integer.MAX_VALUE;
    }

    /** The newest change there is: those that a fold writes are none of its own business. */
    default long newestCount(Session session) throws SQLException {
        return Long.MAX_VALUE;
    }

    /**
     * Locks leases with jobs that have expired, without those that somebody else has locked: id and runner. Binds how many.
     */
    String expiredSql();

    /** Puts the jobs of a lease that expired under a new one, without a job in the answer. */
    Claim takeLease(Session session, long lost, long[] ids, String taker, Duration lease) throws SQLException;

    void dropLeases(Session session, long... tokens) throws SQLException;

    /** Drops so many leases at most that have expired and list no job that they hold; tells how many. */
    int dropEmptyLeases(Session session, int max) throws SQLException;

    /** Takes a job off a lease's list: binds job and token. */
    String leaveSql();

    /**
     * Names in a column, in order, however many rows have each.
     *
     * @param all finds them all by jumps
     * @param next finds the least that is greater than the one it binds, or null
     */
    List<String> names(Session session, String all, String next) throws SQLException;

    /** Ids of the jobs that each of these requests is about. */
    default List<List<Long>> parked(Session session, List<Unparking> requests) throws SQLException {
        List<List<Long>> ids = new ArrayList<>();
        for (Unparking request : requests) {
            ids.add(ControlStates.find(session, request));
        }
        return ids;
    }

    /** Inserts a row unless one with such a key is there; tells how many. */
    int insertUnlessThere(Session session, String sql, @Nullable Object... args) throws SQLException;

    /** What a reading statement ends with, to see what is committed even if the caller's transaction began earlier. */
    default String latest(Session session) throws SQLException {
        return "";
    }

    /** Reads where all that is committed is seen, even if the caller's transaction began earlier. */
    default <T> T committed(Session session, Database.Work<T> reading) throws SQLException {
        return reading.on(session);
    }

    /** Ids in lists of a length that the server likes. */
    default List<long[]> pieces(long[] ids) {
        return List.of(ids);
    }

    /** Whether jobs that have ended are in a table of their own. */
    default boolean movesFinished() {
        return true;
    }

    /** A table {@code x} of the ids in one array; null where many rows go to a statement anyway. */
    default @Nullable String idTable() {
        return null;
    }

    /** Whether places for arrays become as many places as the array has values. */
    default boolean spreadsArrays() {
        return false;
    }

    /**
     * Ends leases whose list of jobs cannot be read, where a list can be so: statements that read the lists would fail as
     * long as one is there. The jobs are free again, and what their holder says of them is stale.
     */
    default void dropDamagedLeases(Session session) throws SQLException {}

    /**
     * Where jobs in these states, or all if empty, are shown: each place has other jobs. To be read in one statement, so that
     * no job that moves is missed or seen twice.
     *
     * @param fewLive what {@link #hasFewLive} said
     */
    List<Shown> shown(Set<JobState> states, boolean fewLive);

    /** Where all jobs are shown. */
    default List<Shown> shown() {
        return shown(Set.of(), false);
    }

    /** Whether so many are live at most; to be asked only where it matters. */
    default boolean hasFewLive(Session session, int most) throws SQLException {
        return false;
    }

    /** Counts the tables with a name where Reprise's are; at most one. */
    default String hasTable() {
        // Shown to those too who have no right on it: they must be told so, and not be asked to create it.
        return "select count(*) from pg_catalog.pg_tables where tablename = ? and schemaname = current_schema()";
    }

    void bindArray(PreparedStatement statement, int index, Object array) throws SQLException;

    void limit(PreparedStatement statement, int seconds) throws SQLException;

    /** Whether the store can write while a caller's transaction has written. */
    boolean writesBesideOthers();

    /** A version of control state, greater than all before. */
    long nextControlVersion(Session session) throws SQLException;

    /** A job id that nobody else gets. */
    long nextId(Session session) throws SQLException;

    /** Keeps claims of the queue away until the transaction ends. */
    void lockQueue(Session session, String queue) throws SQLException;

    /** The same, for an instant: fails with a lock timeout if others hold it for longer than claims do. */
    default void lockQueueSoon(Session session, String queue) throws SQLException {
        lockQueue(session, queue);
    }

    /** Until the transaction ends, statistics that are out of date do not lead to a table being read whole. */
    default void preferIndexes(Session session) throws SQLException {}

    /** Whether a claim may have taken a job although its row can be locked. */
    default boolean claimsWithoutRowLocks() {
        return false;
    }

    /**
     * To be asked before a job is replaced in a caller's transaction.
     *
     * @throws IllegalArgumentException if the transaction would not see what the lock of a queue protects
     */
    void requireFreshReads(Connection connection) throws SQLException;

    /**
     * Refuses a server that speaks the protocol and keeps other promises than the statements count on.
     *
     * @throws io.reprise.RepriseException if it is one
     */
    default void requireServer(Session session) throws SQLException {}

    /** See {@link Session#confirm}; where nobody else can be the primary, there is nothing to do. */
    default void confirm(Session session) throws SQLException {}

    /** Keeps other migrating processes away until the transaction ends, or {@link #unlockSchema}. */
    void lockSchema(Session session) throws SQLException;

    default void unlockSchema(Session session) throws SQLException {}
}
