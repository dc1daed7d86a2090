// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The physical limit: the simplest loop that a database allows, without a queue around it. */
final class RawSystem implements QueueSystem {

    @Override
    public String name() {
        return "raw";
    }

    @Override
    public @Nullable String cannot(String workload, StoreKind store) {
        if (workload.startsWith("R")) {
            return "controls nothing";
        }
        return switch (workload) {
            case "W3" -> store == StoreKind.POSTGRESQL ? null : "the database tells no other process of a commit";
            case "W8" -> "runs the jobs of a batch one after the other";
            case "control" -> "controls nothing";
            case "tracing" -> "traces nothing";
            case "idle" -> "polls without rest";
            default -> null;
        };
    }

    @Override
    public void install(Target target) throws SQLException {
        switch (target.store()) {
            case POSTGRESQL -> RawPostgres.install(target);
            case MARIADB -> RawMariaDb.install(target);
            case SQLITE -> RawSqlite.install(target);
        }
    }

    @Override
    public Installation open(Target target) throws SQLException {
        return switch (target.store()) {
            case POSTGRESQL -> new RawPostgres(target);
            case MARIADB -> new RawMariaDb(target);
            case SQLITE -> new RawSqlite(target);
        };
    }
}
