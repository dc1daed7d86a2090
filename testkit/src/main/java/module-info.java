// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** The contract of every store, faults, and databases for tests. */
@NullMarked
module io.reprise.testkit {
    requires static org.jspecify;
    requires transitive io.reprise.core;
    requires transitive io.reprise.history;
    requires static java.naming;
    requires transitive java.sql;
    requires transitive org.junit.jupiter.api;
    requires org.junit.jupiter.params;
    requires transitive org.assertj.core;
    requires static embedded.postgres;
    requires static org.postgresql.jdbc;

    exports io.reprise.testkit;
    exports io.reprise.testkit.contract;
    exports io.reprise.testkit.faults;
    exports io.reprise.testkit.fixture;
    exports io.reprise.testkit.fuzz;
    exports io.reprise.testkit.servers;
    exports io.reprise.testkit.turns;
    exports io.reprise.testkit.steps;
}
