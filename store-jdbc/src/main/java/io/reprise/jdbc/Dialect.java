// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import io.reprise.JobState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

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

    /** Ends live jobs: binds state, reason and ids, returns id and queue. */
    String endSql();

    /** Takes a job off a lease's list: binds job and token. */
    String leaveSql();

    /**
     * Ends leases whose list of jobs cannot be read, where a list can be so: statements that read the lists would fail as
     * long as one is there. The jobs are free again, and what their holder says of them is stale.
     */
    default void dropDamagedLeases(Session session) throws SQLException {}

    /**
     * Where jobs in these states, or all if empty, are shown: views, each with a condition and each with other jobs, to be
     * read in one statement, lest a job that moves is missed or seen twice.
     */
    List<String> shown(Set<JobState> states);

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

    /** The same if nobody else does it already; tells whether. */
    boolean tryLockQueue(Session session, String queue) throws SQLException;

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

    /** Keeps other migrating processes away until the transaction ends. */
    void lockSchema(Session session) throws SQLException;
}
