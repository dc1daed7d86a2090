// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The physical limit: the simplest loop a database allows, without a queue around it. */
final class RawSystem implements QueueSystem {

    @Override
    public String name() {
        return "raw";
    }

    @Override
    public @Nullable String cannot(String workload, StoreKind store) {
        if (store == StoreKind.SQLITE && workload.equals("W3")) {
            return "SQLite tells no other process of a commit";
        }
        return null;
    }

    @Override
    public void install(Target target) throws SQLException {
        if (target.store() == StoreKind.SQLITE) {
            RawSqlite.install(target);
        } else {
            RawPostgres.install(target);
        }
    }

    @Override
    public Installation open(Target target) throws SQLException {
        return target.store() == StoreKind.SQLITE ? new RawSqlite(target) : new RawPostgres(target);
    }
}
