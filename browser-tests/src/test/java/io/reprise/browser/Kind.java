// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.store.JobStore;
import io.reprise.testkit.servers.PostgresServer;
import java.nio.file.Path;

/** The databases on which the dashboard is used. */
enum Kind {
    SQLITE {
        @Override
        JobStore open(Path folder) {
            return JdbcJobStore.sqlite(folder.resolve("jobs.db"));
        }
    },
    POSTGRESQL {
        @Override
        JobStore open(Path folder) {
            return JdbcJobStore.open(PostgresServer.shared().freshDatabaseUrl());
        }
    };

    /** Opens an empty store. */
    abstract JobStore open(Path folder);
}
