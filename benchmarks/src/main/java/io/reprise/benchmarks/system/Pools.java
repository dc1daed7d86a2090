// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;

/** Connections for systems that take a data source. */
final class Pools {

    private Pools() {}

    static HikariDataSource open(Target target, int connections, String parameters) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(target.jdbcUrl() + parameters);
        config.setMaximumPoolSize(connections);
        if (target.store() == StoreKind.SQLITE) {
            config.setConnectionInitSql("pragma busy_timeout = 30000; pragma synchronous = full");
        }
        return new HikariDataSource(config);
    }
}
