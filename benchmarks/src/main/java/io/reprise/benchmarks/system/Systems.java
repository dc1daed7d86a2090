// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import java.util.List;

/** All systems to measure, in the order of the tables. */
public final class Systems {

    public static final String REPRISE = "reprise";
    public static final String RAW = "raw";

    private static final List<QueueSystem> ALL = List.of(
            new RepriseSystem(),
            new RawSystem(),
            new DbSchedulerSystem(),
            new JobRunrSystem(),
            new QuartzSystem(),
            new GraphileWorkerSystem(),
            new DbosSystem());

    private Systems() {}

    public static List<String> peers() {
        return ALL.stream()
                .map(QueueSystem::name)
                .filter(name -> !name.equals(REPRISE) && !name.equals(RAW))
                .toList();
    }

    public static QueueSystem get(String name) {
        return ALL.stream()
                .filter(system -> system.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no system " + name));
    }
}
