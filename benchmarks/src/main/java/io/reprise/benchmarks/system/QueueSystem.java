// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import org.jspecify.annotations.Nullable;

/** A queue to measure. */
public interface QueueSystem {

    String name();

    /** Returns why it cannot do a workload on a store; null if it can. */
    default @Nullable String cannot(String workload, StoreKind store) {
        return null;
    }

    /** Whether its jobs have steps that are stored one by one. */
    default boolean hasSteps() {
        return false;
    }

    /** Returns the share of the full number of jobs for this system, so that slow systems end within minutes. */
    default double share() {
        return 1;
    }

    /** Returns the least number of jobs. Fewer would measure its polling rather than its rate. */
    default int least() {
        return 10_000;
    }

    /** Creates its tables in an empty database. */
    void install(Target target) throws Exception;

    /** Opens the installed system, which another process may have installed. */
    Installation open(Target target) throws Exception;
}
