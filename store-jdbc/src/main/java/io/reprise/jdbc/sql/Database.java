// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The store's own connections. Every wait for a connection is bounded. SQL errors become StoreExceptions. */
public interface Database extends AutoCloseable {

    /** Gives the connection of a transaction of the caller. */
    @FunctionalInterface
    interface CallersConnection {

        /** Checks that the connection leads to this kind of database and is in a transaction. */
        Connection open(Dialect dialect) throws SQLException;
    }

    /**
     * Limit for a statement of {@link #look} and for the wait for its connection. The store's timeout
     * applies if it is shorter.
     */
    Duration LOOK_TIME = Duration.ofSeconds(5);

    /** Number of connections for {@link #look}. */
    int SEARCH_CONNECTIONS = 2;

    /** Work on a connection. */
    interface Work<T> {
        T on(Session session) throws SQLException;
    }

    /**
     * Says of an answer whether it is a refusal: nothing was changed, and the caller acts upon that. Every write has
     * one, because a commit that wrote nothing does not wait for a standby: an old primary that lost a failover could
     * refuse by old data. The database makes a refused transaction wait like any other.
     */
    @FunctionalInterface
    interface Refusal<T> {

        /** For work whose answer is no refusal: it changed something, or no caller acts upon it. */
        static <T> Refusal<T> never() {
            return answer -> false;
        }

        boolean isRefusal(T answer);
    }

    Dialect dialect();

    /**
     * Throws at once if the database refuses the user, its password or the name of the database. Returns if the
     * database cannot be reached now: it may be starting.
     */
    default void requireLogin() {}

    /** Reads. Two statements may see different moments. */
    <T> T read(String what, Work<T> work);

    /**
     * Reads for a person, such as a list or a count. It uses separate connections and {@link #LOOK_TIME}, so that no
     * number of readers takes the engine's connections.
     */
    <T> T look(String what, Work<T> work);

    /**
     * Runs one transaction: all of it or nothing. May run {@code work} again after a deadlock. Some exceptions are
     * refusals too: a key that is taken.
     */
    <T> T write(String what, Refusal<T> refusal, Work<T> work);

    /** Like {@link #write}, for work that sends only one statement text and so needs no transaction around it. */
    <T> T send(String what, Refusal<T> refusal, Work<T> work);

    /** Runs work on a connection of the caller, in the caller's transaction. */
    <T> T join(CallersConnection transaction, String what, Refusal<T> refusal, Work<T> work);

    /**
     * Changes the number of connections; null for the number at the start. A database without a pool of its own has none
     * to change.
     */
    default void poolSize(@Nullable Integer connections) {}

    /** Returns how many transactions were run again after a deadlock or a similar conflict. */
    long repeats();

    @Override
    void close();
}
