// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** What a test puts into a world to see whether the checker finds it. */
interface Breakage {

    Breakage NONE = new Breakage() {};

    /** A store that does not do what it should. */
    default JobStore store(InMemoryJobStore sound, ShiftedClock clock) {
        return sound;
    }

    /** An engine that does not, as far as the store can see. */
    default JobStore engine(JobStore store, ChaosWorker worker) {
        return store;
    }

    /** The store's clock, which can be made to be wrong for the length of a call. */
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
