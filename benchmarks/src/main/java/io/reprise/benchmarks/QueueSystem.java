// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import org.jspecify.annotations.Nullable;

/** A queue that is measured. */
interface QueueSystem {

    String name();

    /** Why it cannot do a workload on a store; null if it can. */
    default @Nullable String cannot(String workload, StoreKind store) {
        return null;
    }

    /** Part of the full number of jobs that a measurement of it takes, so that slow ones end within minutes. */
    default double share() {
        return 1;
    }

    /** Jobs that the share does not reduce further: fewer would say more about its polls than about its rate. */
    default int least() {
        return 10_000;
    }

    /** Makes its tables in an empty database. */
    void install(Target target) throws Exception;

    /** Opens what was installed, perhaps by another process. */
    Installation open(Target target) throws Exception;
}
