// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.SQLException;
import java.time.Duration;

/** The store's own connections. Every wait for one is bounded; SQL errors come out as StoreExceptions. */
interface Database extends AutoCloseable {

    /** How long a statement of {@link #look} may take, and the wait for its connection; less if the store's timeout is. */
    Duration LOOK_TIME = Duration.ofSeconds(5);

    /** Connections of {@link #look}. */
    int LOOKS = 2;

    /** Something to do on a connection. */
    interface Work<T> {
        T on(Session session) throws SQLException;
    }

    Dialect dialect();

    /** Reads; the statements may see different moments. */
    <T> T read(String what, Work<T> work);

    /**
     * Reads for somebody who looks, such as a list or a count: on connections of its own, within {@link #LOOK_TIME}, so that no
     * number of those who look keeps the engine from its connections.
     */
    <T> T look(String what, Work<T> work);

    /** One transaction: all of it or nothing. May run {@code work} again after a deadlock. */
    <T> T write(String what, Work<T> work);

    /** Like {@link #write}, for work that sends one statement text only and so needs no transaction around it. */
    <T> T send(String what, Work<T> work);

    /** Runs work on a connection of the caller's, in the caller's transaction. */
    <T> T join(JdbcTransaction transaction, String what, Work<T> work);

    /** Transactions that fell victim to others and were run again. */
    long repeats();

    @Override
    void close();
}
