// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.mysql;

import io.reprise.jdbc.sql.Pool;
import io.reprise.jdbc.sql.PooledDatabase;
import io.reprise.jdbc.sql.Session;
import io.reprise.jdbc.sql.SqlErrors;
import io.reprise.store.StoreException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Connections to MySQL or MariaDB. A transaction that waited too long for a lock is run again, as after a deadlock. */
public final class MySqlDatabase extends PooledDatabase {

    private final MySqlDialect dialect = new MySqlDialect(this::side);

    /** Null if this database is the side itself. */
    private final @Nullable MySqlSide side;

    private MySqlDatabase(Pool pool, Pool looks, int timeoutSeconds, @Nullable MySqlSide side) {
        super(pool, looks, timeoutSeconds);
        this.side = side;
    }

    /**
     * Creates a database on a pool for work, a pool for readers, and a pool of one connection for {@link MySqlSide}.
     */
    public static MySqlDatabase of(Pool pool, Pool looks, Pool one, int timeoutSeconds) {
        MySqlSide side = new MySqlSide(new MySqlDatabase(one, one, timeoutSeconds, null));
        return new MySqlDatabase(pool, looks, timeoutSeconds, side);
    }

    private MySqlSide side() {
        if (side == null) {
            throw new IllegalStateException("nothing is beside what is done beside");
        }
        return side;
    }

    @Override
    public MySqlDialect dialect() {
        return dialect;
    }

    /** The session of an application keeps its isolation level: this is for the next transaction only. */
    @Override
    public void begin(Session session) throws SQLException {
        if (isBorrowed()) {
            session.update("set transaction isolation level read committed");
        }
    }

    @Override
    public boolean isVictim(SQLException e) {
        return SqlErrors.isMySqlVictim(e);
    }

    @Override
    public StoreException failure(String what, SQLException e) {
        return SqlErrors.mysql(what, e);
    }

    @Override
    public void close() {
        super.close();
        if (side != null) {
            side.close();
        }
    }
}
