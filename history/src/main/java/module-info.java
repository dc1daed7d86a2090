// SPDX-License-Identifier: Apache-2.0
import org.jspecify.annotations.NullMarked;

/** Records what happened to jobs, and checks that every promise was kept. */
@NullMarked
module io.reprise.history {
    requires static org.jspecify;
    requires transitive io.reprise.core;

    exports io.reprise.history;
}
