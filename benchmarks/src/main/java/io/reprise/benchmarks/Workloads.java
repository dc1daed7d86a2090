// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.util.List;

/** All workloads, in the order of the tables. */
final class Workloads {

    static final List<Workload> ALL = List.of(
            new SingleEnqueue(),
            new BulkEnqueue(),
            new Drain(),
            new Latency(),
            new Retry(),
            new Backlog(),
            new Archive(),
            new Sustained(),
            new Fleet(),
            new Idle(),
            new Heap(),
            new WalBytes(),
            new ControlCost(),
            HttpEnqueue.single(),
            HttpEnqueue.batches(),
            new RemoteWork());

    private Workloads() {}

    static Workload get(String name) {
        return ALL.stream()
                .filter(workload -> workload.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no workload " + name));
    }
}
