// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.util.Locale;

/** The measured databases. */
enum StoreKind {
    POSTGRESQL,
    MARIADB,
    SQLITE;

    static StoreKind of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
