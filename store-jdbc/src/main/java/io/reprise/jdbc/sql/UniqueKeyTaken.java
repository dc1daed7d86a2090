// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.sql;

/** Another live job took the unique key at the same moment. The transaction is rolled back. */
public final class UniqueKeyTaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UniqueKeyTaken() {}
}
