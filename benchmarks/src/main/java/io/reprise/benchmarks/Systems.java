// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.util.List;

/** All systems to measure, in the order of the tables. */
final class Systems {

    static final String REPRISE = "reprise";
    static final String RAW = "raw";

    private static final List<QueueSystem> ALL = List.of(
            new RepriseSystem(),
            new RawSystem(),
            new DbScheduler(),
            new JobRunrSystem(),
            new QuartzSystem(),
            new GraphileWorker());

    private Systems() {}

    static List<String> peers() {
        return ALL.stream()
                .map(QueueSystem::name)
                .filter(name -> !name.equals(REPRISE) && !name.equals(RAW))
                .toList();
    }

    static QueueSystem get(String name) {
        return ALL.stream()
                .filter(system -> system.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no system " + name));
    }
}
