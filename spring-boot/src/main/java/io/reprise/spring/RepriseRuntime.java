// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.CurrentTransaction;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;

/**
 * The Reprise of the context with what the start of its worker needs.
 *
 * @param builder takes handlers until the worker starts
 */
record RepriseRuntime(RepriseBuilder builder, Reprise reprise, CurrentTransaction transactions, KnownTypes types) {

    /** Opens a Reprise. Tests open one without threads. */
    @FunctionalInterface
    interface Opener {
        Reprise open(RepriseBuilder builder);
    }
}
