// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.cli.CommandsTest;
import io.reprise.testkit.servers.PostgresServer;

/** The same on PostgreSQL, by the URL that is documented for it. */
class PostgresCommandsTest extends CommandsTest {

    @Override
    public String storeUrl() {
        String jdbc = PostgresServer.shared().freshDatabaseUrl();
        return jdbc.replaceFirst("jdbc:postgresql://(.*)\\?user=(.*)", "postgresql://$2@$1");
    }
}
