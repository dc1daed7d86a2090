// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import io.reprise.simulator.World;
import io.reprise.store.JobStore;

/** A defect that a test puts between the fleet and its store to prove that the checker finds it. */
interface RecoveryBug {

    RecoveryBug NONE = (store, world) -> store;

    JobStore store(JobStore sound, World world);
}
