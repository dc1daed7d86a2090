// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.Collection;
import java.util.Set;

/** Something to find out by simulation. Not thread-safe. */
public interface Experiment {

    /** Runs it. The same seed gives the same report, to the last byte. */
    Report run(long seed);

    /** The names in its table. */
    Set<String> policies();

    /** Leaves out all others. @throws IllegalArgumentException for a name that is not in the table */
    void keep(Collection<String> policies);
}
