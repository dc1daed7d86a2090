// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import java.sql.Connection;
import java.util.List;

/** A database of a server with the schema, to be emptied rather than created again for each test. */
interface ServerDatabase extends AutoCloseable {

    JdbcJobStore store();

    /** Another store in it. */
    JdbcJobStore open(JdbcStoreBuilder settings);

    Connection connection();

    void empty();

    /** First column of all rows. */
    List<String> query(String sql);

    @Override
    void close();
}
