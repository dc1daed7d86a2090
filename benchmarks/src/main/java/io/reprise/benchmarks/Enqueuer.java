// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

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
                System.out.println(Clock.micros());
            }
        }
        System.exit(0);
    }
}
