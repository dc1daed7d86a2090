// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

/** The same on PostgreSQL. */
class UseOnPostgresTest extends UseTest {

    @Override
    Kind kind() {
        return Kind.POSTGRESQL;
    }
}
