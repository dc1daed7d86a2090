// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.postgres;

import com.zaxxer.hikari.SQLExceptionOverride;
import io.reprise.jdbc.sql.SqlErrors;
import java.sql.SQLException;

/**
 * Makes the pool close a connection whose server has become a standby. The connection still works, but it cannot write.
 */
public final class PostgresEviction implements SQLExceptionOverride {

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException e) {
        return SqlErrors.isReadOnly(e)
                ? SQLExceptionOverride.Override.MUST_EVICT
                : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
}
