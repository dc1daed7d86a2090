// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

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

    /** Views that together show all jobs, the live ones first. */
    List<String> views();

    void bindArray(PreparedStatement statement, int index, Object array) throws SQLException;

    void limit(PreparedStatement statement, int seconds) throws SQLException;

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

    /** Keeps other migrating processes away until the transaction ends. */
    void lockSchema(Session session) throws SQLException;
}
