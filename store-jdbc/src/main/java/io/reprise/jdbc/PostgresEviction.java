// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/** A connection to what has become a standby is of no use, although it works. */
final class PostgresEviction implements SQLExceptionOverride {

    @java.lang.Override
    public SQLExceptionOverride.Override adjudicate(SQLException e) {
        return SqlErrors.isReadOnly(e)
                ? SQLExceptionOverride.Override.MUST_EVICT
                : SQLExceptionOverride.Override.CONTINUE_EVICT;
    }
}
