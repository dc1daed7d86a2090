// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

/** Another live job took the unique key at the same moment. The transaction is rolled back. */
final class UniqueKeyTaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UniqueKeyTaken() {}
}
