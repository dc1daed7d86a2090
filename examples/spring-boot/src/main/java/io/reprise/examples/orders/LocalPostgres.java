// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;

/** A PostgreSQL for those who only want to look. */
final class LocalPostgres {

    private LocalPostgres() {}

    static void start() throws IOException {
        EmbeddedPostgres server = EmbeddedPostgres.start();
        System.setProperty("spring.datasource.url", server.getJdbcUrl("postgres", "postgres"));
    }
}
