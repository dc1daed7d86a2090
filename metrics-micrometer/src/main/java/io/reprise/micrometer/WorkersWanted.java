// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.job.WorkerReport;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Calculates how many jobs of a queue should run at once: a signal for an autoscaler. It follows from arrivals, the time
 * of a run and the lag, all measured in the store between two looks, so every process of the fleet shows the same.
 *
 * <p>By Little's law, arrivals per second times seconds of a run are the jobs that must run at once to keep pace. While
 * nothing is late these are the jobs that run. While jobs are late, more are wanted: twice as many at a lag of
 * {@link #DRAIN_SECONDS}. Used by one thread at a time.
 */
final class WorkersWanted {

    private static final double DRAIN_SECONDS = 60;

    /** At most ten times as many jobs as run now are needed to keep pace. */
    private static final double LEAST_SHARE = 0.1;

    /** Counts of a queue at one look. */
    private record Look(long nanos, long ended, long live, double lagSeconds) {}

    private final Map<String, Look> looks = new HashMap<>();

    /** Drops what is known of queues that are gone. */
    void keep(Map<String, ?> queues) {
        looks.keySet().retainAll(queues.keySet());
    }

    double of(QueueState queue, List<WorkerReport> workers, double lagSeconds, long nanos) {
        long claimed = queue.count(JobState.RUNNING);
        long running = running(queue.name(), claimed, workers);
        long ended = queue.count(JobState.SUCCEEDED) + queue.count(JobState.FAILED) + queue.count(JobState.CANCELLED);
        Look now = new Look(nanos, ended, queue.count(JobState.PENDING) + claimed, lagSeconds);
        Look before = looks.put(queue.name(), now);
        if (queue.paused() != null) {
            return 0;
        }
        if (queue.oldestDueAt() == null) {
            // What waits is for later.
            return Math.ceil(bounded(queue, (double) running));
        }
        double pace = before == null ? running : pace(before, now, running);
        double least = Math.max(1, Math.max((double) running, pace));
        return Math.ceil(bounded(queue, least * (1 + lagSeconds / DRAIN_SECONDS)));
    }

    private static double bounded(QueueState queue, double wanted) {
        return queue.maxRunning() == null ? wanted : Math.min(wanted, queue.maxRunning());
    }

    /**
     * Returns the jobs that run. The store also counts those that a worker claimed ahead. If it counts fewer than workers
     * reported, they have done them since, and as many run as the workers have threads.
     */
    private static long running(String queue, long claimed, List<WorkerReport> workers) {
        long ahead = 0;
        long threads = 0;
        for (WorkerReport worker : workers) {
            if (worker.holding() > worker.concurrency() && worker.serves(queue)) {
                ahead += worker.holding() - worker.concurrency();
                threads += worker.concurrency();
            }
        }
        return Math.max(claimed - ahead, Math.min(claimed, threads));
    }

    /** Returns the jobs that must run at once for as many to end as arrive; those that run if none ended. */
    private static double pace(Look before, Look now, long running) {
        double seconds = (now.nanos - before.nanos) / 1e9;
        long ended = now.ended - before.ended;
        if (seconds <= 0 || ended <= 0) {
            return running;
        }
        double arrivals = Math.max(0, ended + now.live - before.live) / seconds;
        double run = running * seconds / ended;
        return Math.min(arrivals * run, running / served(before, now, seconds));
    }

    /**
     * Returns which share of the arrivals was served: if the lag grew by 6 s in 10 s, those of 4 s. It bounds what the
     * counts say. They say too much if ended jobs are deleted meanwhile, or if jobs arrive that are due much later.
     */
    private static double served(Look before, Look now, double seconds) {
        return Math.max(LEAST_SHARE, 1 - (now.lagSeconds - before.lagSeconds) / seconds);
    }
}
