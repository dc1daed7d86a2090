// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A defect that a test puts into a world to prove that the checker finds it. */
interface ChaosBug {

    ChaosBug NONE = new ChaosBug() {};

    /** Returns a defective store. */
    default JobStore store(InMemoryJobStore sound, ShiftedClock clock) {
        return sound;
    }

    /** Returns a store that makes the engine look defective. */
    default JobStore engine(JobStore store, ChaosWorker worker) {
        return store;
    }

    /** The store's clock, which can be wrong for the length of a call. */
    final class ShiftedClock implements InstantSource {

        private final InstantSource right;
        Duration ahead = Duration.ZERO;

        ShiftedClock(InstantSource right) {
            this.right = right;
        }

        @Override
        public Instant instant() {
            return right.instant().plus(ahead);
        }
    }
}
