// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.mysql;

import io.reprise.jdbc.sql.Database;
import io.reprise.jdbc.sql.Database.Refusal;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlRow;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Work on a separate connection, outside the present transaction, because that transaction would block
 * others until its end. It takes ids and versions from reprise_sequence, ids in blocks, and creates the
 * lock row of a queue. Thread-safe.
 */
final class MySqlSide implements AutoCloseable {

    private static final int BLOCK = 100;

    private final Database database;
    private final Set<String> lockable = ConcurrentHashMap.newKeySet();
    private long nextId;
    private long lastId = -1;

    MySqlSide(Database database) {
        this.database = database;
    }

    /** Takes {@code count} consecutive job ids. Returns the first. */
    synchronized long ids(int count) {
        if (lastId - nextId + 1 < count) {
            int block = Math.max(BLOCK, count);
            lastId = take("job", block);
            nextId = lastId - block + 1;
        }
        long first = nextId;
        nextId += count;
        return first;
    }

    long controlVersion() {
        return take("control", 1);
    }

    <T> T read(Database.Work<T> reading) {
        return database.read("look beside a transaction", reading);
    }

    /** Takes {@code count} numbers of a sequence. Returns the last. */
    private long take(String sequence, int count) {
        return database.send("take numbers", Refusal.never(), session -> {
            session.update(
                    "update reprise_sequence set value = last_insert_id(value + ?) where name = ?", count, sequence);
            return session.one("select last_insert_id()", SqlRow::number);
        });
    }

    /** Creates the queue's row in reprise_queue_lock, if it is missing. */
    void makeLockable(String queue) {
        if (!lockable.contains(queue)) {
            database.send("name queue " + queue, Refusal.never(), session -> create(session, queue));
            lockable.add(queue);
        }
    }

    private static int create(Session session, String queue) throws SQLException {
        boolean there = session.first("select name from reprise_queue_lock where name = ?", SqlRow::text, queue)
                .isPresent();
        return there
                ? 0
                : session.dialect()
                        .insertUnlessThere(session, "insert into reprise_queue_lock (name) values (?)", queue);
    }

    @Override
    public void close() {
        database.close();
    }
}
