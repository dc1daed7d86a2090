// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** All workloads, in the order of the tables. */
final class Workloads {

    static final List<Workload> ALL = all();

    private Workloads() {}

    private static List<Workload> all() {
        List<Workload> all = new ArrayList<>(List.of(
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
                RemoteWork.together(),
                RemoteWork.singly()));
        all.addAll(Recovery.outages());
        all.addAll(List.of(Storm.withoutResource(), Recovery.throttled(), Storm.ofOneResource()));
        all.addAll(List.of(
                new RetentionPace(),
                new BulkReplay(),
                new ManySchedules(),
                new ManyQueues(),
                new ManyResources(),
                new LostTwice(),
                new KeyedEnqueue(),
                new ExpiredDeadlines(),
                new TwoServers()));
        return List.copyOf(all);
    }

    /** Whether a given name means this workload: its own name, or the common beginning of several, as R1 of R1-5ms. */
    static boolean isMeant(String given, Workload workload) {
        boolean exact = ALL.stream().anyMatch(each -> each.name().equals(given));
        return exact ? workload.name().equals(given) : workload.name().startsWith(given + "-");
    }

    static Workload get(String name) {
        return ALL.stream()
                .filter(workload -> workload.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no workload " + name));
    }
}
