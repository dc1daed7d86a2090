// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sqlite;

import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Dialect;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlErrors;
import io.reprise.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.sqlite.ProgressHandler;
import org.sqlite.SQLiteConnection;

/**
 * One connection that writes, guarded by a fair lock, and a few that read. Other processes may use the same file:
 * SQLite's file lock separates them, and the busy timeout limits the wait for it.
 */
public final class SqliteDatabase implements Database {

    private static final int BUSY = 5;
    /** Enough for the pages that one batch touches, even with millions of jobs. */
    private static final int CACHE_KIB = 16_384;

    private static final int STEPS_BETWEEN_LOOKS_AT_THE_CLOCK = 10_000;

    private static final long WAL_RETRY_NANOS = 5_000_000;

    /** Opens a plain connection to the file. */
    public interface Opener {
        Connection open() throws SQLException;
    }

    private final Dialect dialect = new SqliteDialect();
    private final Path file;
    private final Duration timeout;
    private final Opener opener;
    private final ReentrantLock writing = new ReentrantLock(true);
    private final BlockingQueue<Slot> readers;
    private final BlockingQueue<Slot> lookers;
    private @Nullable Session writer;
    private volatile boolean closed;

    /** A place for a reading connection, which is opened at its first use. */
    private static final class Slot {
        private @Nullable Session session;
    }

    public SqliteDatabase(Path file, Duration timeout, int readers) {
        this(file, timeout, readers, () -> {
            createPrivate(file);
            return DriverManager.getConnection("jdbc:sqlite:" + file);
        });
    }

    /**
     * Creates the file for its owner only, because payloads and secrets are not for every user. SQLite gives its
     * other files the same rights.
     */
    private static void createPrivate(Path file) {
        try {
            if (Files.notExists(file)
                    && file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
                Files.createFile(
                        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            }
        } catch (IOException e) {
            // SQLite reports what is wrong when it opens the file.
        }
    }

    public SqliteDatabase(Path file, Duration timeout, int readers, Opener opener) {
        this.file = file;
        this.timeout = timeout;
        this.opener = opener;
        this.readers = slots(readers);
        this.lookers = slots(SEARCH_CONNECTIONS);
    }

    private static BlockingQueue<Slot> slots(int number) {
        BlockingQueue<Slot> slots = new ArrayBlockingQueue<>(number);
        for (int i = 0; i < number; i++) {
            slots.add(new Slot());
        }
        return slots;
    }

    @Override
    public Dialect dialect() {
        return dialect;
    }

    /** No other server can become the primary, so a refusal is safe. */
    @Override
    public <T> T write(String what, Refusal<T> refusal, Work<T> work) {
        lock(what);
        try {
            requireOpen();
            Session session = writer;
            if (session == null) {
                session = open(Session.Use.KEPT, false);
                writer = session;
            }
            return transact(session, work);
        } catch (SQLException e) {
            throw SqlErrors.sqlite(what, file.toString(), e);
        } finally {
            writing.unlock();
        }
    }

    private <T> T transact(Session session, Work<T> work) throws SQLException {
        // Immediate: takes or awaits the write lock before anything is read.
        session.update("begin immediate");
        boolean done = false;
        try {
            T result = work.on(session);
            session.update("commit");
            done = true;
            return result;
        } finally {
            if (!done) {
                rollBack(session);
            }
        }
    }

    private void rollBack(Session session) {
        try {
            session.update("rollback");
        } catch (SQLException e) {
            // SQLite may have rolled back by itself, or the connection is broken. A new connection is clean.
            writer = null;
            closeQuietly(session);
        }
    }

    @Override
    public <T> T send(String what, Refusal<T> refusal, Work<T> work) {
        return write(what, refusal, work);
    }

    @Override
    public <T> T read(String what, Work<T> work) {
        return on(readers, timeout, what, slot -> {
            if (slot.session == null) {
                slot.session = open(Session.Use.KEPT, true);
            }
            return work.on(slot.session);
        });
    }

    /**
     * Statements are not kept, because there are too many kinds. SQLite calls the progress handler,
     * which ends a slow statement.
     */
    @Override
    public <T> T look(String what, Work<T> work) {
        Duration most = timeout.compareTo(LOOK_TIME) < 0 ? timeout : LOOK_TIME;
        return on(lookers, most, what, slot -> {
            if (slot.session == null) {
                slot.session = open(Session.Use.POOLED, true);
            }
            SQLiteConnection connection = slot.session.connection().unwrap(SQLiteConnection.class);
            ProgressHandler.setHandler(connection, STEPS_BETWEEN_LOOKS_AT_THE_CLOCK, new TimeLimit(most));
            try {
                return work.on(slot.session);
            } finally {
                ProgressHandler.clearHandler(connection);
            }
        });
    }

    private static final class TimeLimit extends ProgressHandler {
        private final long end;

        private TimeLimit(Duration most) {
            this.end = System.nanoTime() + most.toNanos();
        }

        @Override
        protected int progress() {
            return System.nanoTime() - end < 0 ? 0 : 1;
        }
    }

    private interface Reading<T> {
        T on(Slot slot) throws SQLException;
    }

    private <T> T on(BlockingQueue<Slot> slots, Duration most, String what, Reading<T> reading) {
        requireOpen();
        Slot slot = take(slots, most, what);
        try {
            requireOpen();
            return reading.on(slot);
        } catch (SQLException e) {
            if (slot.session != null) {
                closeQuietly(slot.session);
                slot.session = null;
            }
            throw SqlErrors.sqlite(what, file.toString(), e);
        } finally {
            slots.add(slot);
            if (closed) {
                closeReaders();
            }
        }
    }

    @Override
    public <T> T join(CallersConnection transaction, String what, Refusal<T> refusal, Work<T> work) {
        try {
            Connection connection = transaction.open(dialect);
            return work.on(new Session(connection, dialect, 0, Session.Use.JOINED));
        } catch (SQLException e) {
            throw SqlErrors.sqlite(what + " in the caller's transaction", file.toString(), e);
        }
    }

    /** There is one writer, so no transaction is ever run again. */
    @Override
    public long repeats() {
        return 0;
    }

    /** The first change to WAL needs the file alone and ignores the busy timeout, so the loop waits here. */
    private void writeAhead(Statement statement) throws SQLException {
        long end = System.nanoTime() + timeout.toNanos();
        boolean done = false;
        while (!done) {
            try {
                statement.execute("pragma journal_mode = wal");
                done = true;
            } catch (SQLException e) {
                if ((e.getErrorCode() & 0xff) != BUSY || System.nanoTime() - end >= 0) {
                    throw e;
                }
                LockSupport.parkNanos(WAL_RETRY_NANOS);
            }
        }
    }

    private Session open(Session.Use use, boolean reader) throws SQLException {
        Path directory = file.toAbsolutePath().getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            throw new SQLException("no directory " + directory, null, 14);
        }
        Connection connection = opener.open();
        try (Statement statement = connection.createStatement()) {
            statement.execute("pragma busy_timeout = " + timeout.toMillis());
            if (reader) {
                statement.execute("pragma query_only = on");
            } else {
                writeAhead(statement);
                // The statement journal is as safe in memory as in a temporary file.
                statement.execute("pragma temp_store = memory");
                statement.execute("pragma cache_size = -" + CACHE_KIB);
                statement.execute("pragma synchronous = full");
            }
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
        return new Session(connection, dialect, 0, use);
    }

    private void lock(String what) {
        try {
            if (!writing.tryLock(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new StoreException(
                        "SQLite could not " + what + " in " + file + ": other threads kept the writer busy for "
                                + timeout,
                        new TimeoutException(),
                        true);
            }
        } catch (InterruptedException e) {
            throw interrupted(what, e);
        }
    }

    private Slot take(BlockingQueue<Slot> slots, Duration most, String what) {
        try {
            Slot slot = slots.poll(most.toMillis(), TimeUnit.MILLISECONDS);
            if (slot == null) {
                throw new StoreException(
                        "SQLite could not " + what + " in " + file + ": all reading connections were busy for " + most,
                        new TimeoutException(),
                        true);
            }
            return slot;
        } catch (InterruptedException e) {
            throw interrupted(what, e);
        }
    }

    private StoreException interrupted(String what, InterruptedException e) {
        Thread.currentThread().interrupt();
        return new StoreException("Interrupted while waiting to " + what + " in " + file, e, true);
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("The job store on " + file + " is closed");
        }
    }

    private static void closeQuietly(Session session) {
        try {
            session.close();
        } catch (SQLException ignored) {
            // The connection is discarded either way.
        }
    }

    /**
     * Closes idle connections; those in use are closed when they return. The slots stay, so that a waiting thread
     * learns that the store is closed.
     */
    private void closeReaders() {
        for (BlockingQueue<Slot> slots : List.of(readers, lookers)) {
            List<Slot> idle = new ArrayList<>();
            slots.drainTo(idle);
            for (Slot slot : idle) {
                if (slot.session != null) {
                    closeQuietly(slot.session);
                    slot.session = null;
                }
            }
            slots.addAll(idle);
        }
    }

    @Override
    public void close() {
        closed = true;
        closeReaders();
        writing.lock();
        try {
            if (writer != null) {
                closeQuietly(writer);
                writer = null;
            }
        } finally {
            writing.unlock();
        }
    }
}
