// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

import io.reprise.job.DuplicateKeyException;
import io.reprise.job.KeyReusedException;
import io.reprise.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connections to a server from a pool. A transaction that lost a deadlock or a similar conflict is run again. */
public abstract class PooledDatabase implements Database {

    private static final Logger log = LoggerFactory.getLogger(PooledDatabase.class);

    private static final int TRIES = 5;

    private final Pool pool;
    private final Pool looks;
    private final int timeoutSeconds;
    private final LongAdder repeats = new LongAdder();

    /**
     * Creates a database on two pools.
     *
     * @param looks connections for {@link #look}
     */
    public PooledDatabase(Pool pool, Pool looks, int timeoutSeconds) {
        this.pool = pool;
        this.looks = looks;
        this.timeoutSeconds = timeoutSeconds;
    }

    /** Whether the transaction may be run again unchanged. */
    public abstract boolean isVictim(SQLException e);

    /** Returns the exception for callers. */
    public abstract StoreException failure(String what, SQLException e);

    @Override
    public final <T> T read(String what, Work<T> work) {
        return send(what, Refusal.never(), work);
    }

    /** A pool of the application may have autocommit off, so there a single statement has a transaction too. */
    @Override
    public <T> T send(String what, Refusal<T> refusal, Work<T> work) {
        if (isBorrowed()) {
            return write(what, refusal, work);
        }
        return repeat(what, () -> {
            try (Pool.Loan loan = pool.take(timeoutSeconds)) {
                return judged(session(loan.connection(), timeoutSeconds, Session.Use.POOLED), refusal, work);
            }
        });
    }

    /** Runs the work, and makes its answer safe if it is a refusal. */
    private static <T> T judged(Session session, Refusal<T> refusal, Work<T> work) throws SQLException {
        T answer = work.on(session);
        if (refusal.isRefusal(answer)) {
            session.confirm();
        }
        return answer;
    }

    /** Whether the connections belong to the application. Then no setting of a session may be changed. */
    protected final boolean isBorrowed() {
        return pool.isBorrowed();
    }

    /** Runs in a transaction, so that the driver can set the timeout behind a pooler too. */
    @Override
    public final <T> T look(String what, Work<T> work) {
        int seconds = Math.min(timeoutSeconds, (int) LOOK_TIME.toSeconds());
        return repeat(what, () -> {
            try (Pool.Loan loan = looks.take(timeoutSeconds)) {
                Connection connection = loan.connection();
                connection.setAutoCommit(false);
                Session session = session(connection, seconds, Session.Use.POOLED);
                begin(session);
                return work.on(session);
            }
        });
    }

    @Override
    public final <T> T write(String what, Refusal<T> refusal, Work<T> work) {
        return repeat(what, () -> {
            try (Pool.Loan loan = pool.take(timeoutSeconds)) {
                Connection connection = loan.connection();
                connection.setAutoCommit(false);
                // When the connection returns, the pool rolls back uncommitted work.
                Session session = session(connection, timeoutSeconds, Session.Use.POOLED);
                try {
                    begin(session);
                    T result = judged(session, refusal, work);
                    connection.commit();
                    return result;
                } catch (DuplicateKeyException | KeyReusedException | UniqueKeyTaken refused) {
                    undo(session);
                    session.confirm();
                    connection.commit();
                    throw refused;
                }
            }
        });
    }

    /** A pool answers a wrong password only after its whole timeout, so one connection is opened without it. */
    @Override
    public final void requireLogin() {
        try (Connection plain = pool.openPlain()) {
            log.debug("Reached {}", plain.getMetaData().getDatabaseProductName());
        } catch (SQLException e) {
            StoreException failure = failure("log in", e);
            if (!failure.isTransient()) {
                throw failure;
            }
            log.warn("{}; trying again for {} s", failure.getMessage(), timeoutSeconds);
        }
    }

    /** Sends the settings that each transaction needs. */
    public void begin(Session session) throws SQLException {}

    /** Undoes what was written since {@link #begin}, because it was refused. The refusal is confirmed next. */
    public void undo(Session session) throws SQLException {
        session.connection().rollback();
    }

    @Override
    public final <T> T join(CallersConnection transaction, String what, Refusal<T> refusal, Work<T> work) {
        try {
            Session session = session(transaction.open(dialect()), timeoutSeconds, Session.Use.JOINED);
            try {
                return judged(session, refusal, work);
            } catch (DuplicateKeyException | KeyReusedException refused) {
                session.confirm();
                throw refused;
            }
        } catch (SQLException e) {
            throw failure(what + " in the caller's transaction", e);
        }
    }

    private Session session(Connection connection, int seconds, Session.Use use) {
        return new Session(connection, dialect(), seconds, use);
    }

    private interface Try<T> {
        T run() throws SQLException;
    }

    private <T> T repeat(String what, Try<T> work) {
        for (int n = 1; ; n++) {
            try {
                return work.run();
            } catch (SQLException e) {
                if (n == TRIES || !isVictim(e)) {
                    throw failure(what, e);
                }
                repeats.increment();
                log.debug("Trying again to {}: {}", what, e.getMessage());
            }
        }
    }

    @Override
    public final void poolSize(@Nullable Integer connections) {
        pool.resize(connections);
    }

    @Override
    public final long repeats() {
        return repeats.sum();
    }

    @Override
    public void close() {
        looks.close();
        pool.close();
    }
}
