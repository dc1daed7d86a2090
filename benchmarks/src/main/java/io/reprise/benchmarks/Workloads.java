// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import io.reprise.benchmarks.fairness.LimitsUnderKills;
import io.reprise.benchmarks.fairness.ManyGroups;
import io.reprise.benchmarks.fairness.NoisyNeighbour;
import io.reprise.benchmarks.steps.JoinOfMany;
import io.reprise.benchmarks.upkeep.BulkReplay;
import io.reprise.benchmarks.upkeep.ExpiredDeadlines;
import io.reprise.benchmarks.upkeep.KeyedEnqueue;
import io.reprise.benchmarks.upkeep.LostTwice;
import io.reprise.benchmarks.upkeep.ManyQueues;
import io.reprise.benchmarks.upkeep.ManyResources;
import io.reprise.benchmarks.upkeep.ManySchedules;
import io.reprise.benchmarks.upkeep.RetentionPace;
import io.reprise.benchmarks.upkeep.TwoServers;
import io.reprise.benchmarks.workload.Backlog;
import io.reprise.benchmarks.workload.BulkEnqueue;
import io.reprise.benchmarks.workload.ControlCost;
import io.reprise.benchmarks.workload.Drain;
import io.reprise.benchmarks.workload.Heap;
import io.reprise.benchmarks.workload.HttpEnqueue;
import io.reprise.benchmarks.workload.Idle;
import io.reprise.benchmarks.workload.Latency;
import io.reprise.benchmarks.workload.MeasuredArchive;
import io.reprise.benchmarks.workload.OutageRecovery;
import io.reprise.benchmarks.workload.RemoteWork;
import io.reprise.benchmarks.workload.Retry;
import io.reprise.benchmarks.workload.SingleEnqueue;
import io.reprise.benchmarks.workload.Sleepers;
import io.reprise.benchmarks.workload.Storm;
import io.reprise.benchmarks.workload.Sustained;
import io.reprise.benchmarks.workload.TenSteps;
import io.reprise.benchmarks.workload.TracingCost;
import io.reprise.benchmarks.workload.WalBytes;
import io.reprise.benchmarks.workload.WorkerFleet;
import io.reprise.benchmarks.workload.Workload;
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
                new MeasuredArchive(),
                new Sustained(),
                new WorkerFleet(),
                new Idle(),
                new Heap(),
                new WalBytes(),
                new ControlCost(),
                new TracingCost(),
                new TenSteps(),
                new Sleepers(),
                new JoinOfMany(),
                HttpEnqueue.single(),
                HttpEnqueue.batches(),
                RemoteWork.together(),
                RemoteWork.singly()));
        all.addAll(OutageRecovery.outages());
        all.addAll(List.of(Storm.withoutResource(), OutageRecovery.throttled(), Storm.ofOneResource()));
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
        all.add(new NoisyNeighbour());
        all.addAll(ManyGroups.all());
        all.add(new LimitsUnderKills());
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
