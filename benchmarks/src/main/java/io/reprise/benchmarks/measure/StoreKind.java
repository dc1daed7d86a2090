// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.measure;

import java.util.Locale;

/** The measured databases. */
public enum StoreKind {
    POSTGRESQL,
    MARIADB,
    SQLITE;

    public static StoreKind of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
