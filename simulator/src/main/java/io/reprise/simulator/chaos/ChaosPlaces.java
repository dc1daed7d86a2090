// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.Queue;
import io.reprise.RepriseBuilder;
import io.reprise.fairness.FlowLimit;
import io.reprise.history.StoreCalls;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec.Needs;
import io.reprise.store.Claim;
import io.reprise.store.JobStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Checks where and when jobs start. A job of a group in order starts only after the one before it has ended, also if that
 * one failed, was lost or sleeps. A job with needs starts only at a worker that offers all of them.
 */
final class ChaosPlaces {

    /** A queue whose groups keep their order. */
    static final String IN_ORDER = "line";

    /** Labels that workers offer, by their place in the fleet. The first worker offers all, so that no job waits for ever. */
    private static final List<List<String>> OFFERS = List.of(List.of("eu", "gpu", "ssd"), List.of("gpu"), List.of());

    private final ChaosWorld world;

    /** By group in order: the job that started and has not ended. */
    private final Map<String, JobId> heads = new HashMap<>();

    ChaosPlaces(ChaosWorld world) {
        this.world = world;
    }

    static List<String> offers(int place) {
        return OFFERS.get(place % OFFERS.size());
    }

    static void serve(RepriseBuilder builder, List<String> offers) {
        builder.queues(Queue.of(IN_ORDER).perGroup(FlowLimit.inOrder())).offers(offers.toArray(String[]::new));
    }

    /** Returns the store of a worker, whose claims are checked. */
    JobStore watched(JobStore store, ChaosWorker worker, List<String> offers) {
        return StoreCalls.before(store, call -> {
            Object answer = call.proceed();
            if (call.method().equals("claim")) {
                for (Object claim : (List<?>) Objects.requireNonNull(answer)) {
                    claimed((Claim) claim, worker, offers);
                }
            }
            return answer;
        });
    }

    private void claimed(Claim claim, ChaosWorker worker, List<String> offers) {
        for (Job job : claim.jobs()) {
            if (!offers.containsAll(Needs.of(claim.queue()))) {
                world.violated(
                        "needs",
                        job.id(),
                        "needs " + Needs.of(claim.queue()) + ", and " + worker.name() + " took it, which offers "
                                + offers);
            }
            String group = job.spec().group();
            JobId head = group == null ? null : heads.put(group, job.id());
            if (head != null && !head.equals(job.id())) {
                world.violated("order", job.id(), "started although job " + head + " of its group has not ended");
            }
        }
    }

    /** Learns from the row of a job that it has ended. */
    void seen(Job job) {
        if (job.state().isTerminal()) {
            heads.values().remove(job.id());
        }
    }
}
