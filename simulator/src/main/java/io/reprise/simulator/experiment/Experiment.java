// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.simulator.Report;
import java.util.Collection;
import java.util.Set;

/** A question for the simulator. Not thread-safe. */
public interface Experiment {

    /** Runs the experiment. Equal seeds give equal reports, to the last byte. */
    Report run(long seed);

    /** Returns the names in its table. */
    Set<String> policies();

    /**
     * Keeps only these policies.
     *
     * @throws IllegalArgumentException for a name that is not in the table
     */
    void keep(Collection<String> policies);
}
