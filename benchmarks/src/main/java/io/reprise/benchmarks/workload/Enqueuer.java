// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.measure.WallClock;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.Systems;
import java.util.concurrent.ThreadLocalRandom;

/** A process that enqueues from time to time, and prints when each job was committed. */
final class Enqueuer {

    private Enqueuer() {}

    /** Arguments: system, store, URL, number of jobs. */
    public static void main(String[] args) throws Exception {
        Target target = new Target(StoreKind.of(args[1]), args[2]);
        try (Installation installation = Systems.get(args[0]).open(target)) {
            int jobs = Integer.parseInt(args[3]);
            for (int number = 0; number < jobs; number++) {
                Thread.sleep(ThreadLocalRandom.current().nextInt(10, 30));
                installation.enqueueUrgent(Payloads.of(number));
                System.out.println(WallClock.micros());
            }
        }
        System.exit(0);
    }
}
