// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.JobEvent;
import io.reprise.JobListener;
import io.reprise.JobRequest;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.control.ControlSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Workers of one candidate on one store, and the jobs they are given. */
final class Fleet {

    private static final String QUEUE = "calls";

    private final World world;
    private final Candidate candidate;
    private final List<SimulatedWorker> workers = new ArrayList<>();
    private final RandomGenerator random;
    private int next;
    private int started;
    private @Nullable Duration timeout;
    private @Nullable Duration lease;
    private JobListener listener = event -> {};
    private long enqueued;
    private long succeeded;
    private long dead;

    Fleet(World world, Candidate candidate) {
        this.world = world;
        this.candidate = candidate;
        this.random = world.chance();
    }

    Fleet with(int count, int concurrency, SimulatedHandler handler) {
        for (int i = 0; i < count; i++) {
            workers.add(worker(concurrency, handler));
        }
        return this;
    }

    /** Puts a new worker in the place of one that died. */
    void replace(SimulatedWorker died, int concurrency, SimulatedHandler handler) {
        workers.set(workers.indexOf(died), worker(concurrency, handler));
    }

    private SimulatedWorker worker(int concurrency, SimulatedHandler handler) {
        RepriseBuilder builder = Reprise.builder()
                .name("worker-" + ++started)
                .queues(Queue.of(QUEUE))
                // What has ended is counted; kept, it would only fill the memory.
                .keepFinished(Duration.ofMinutes(1))
                .keepFailed(Duration.ofMinutes(1))
                .listener(counting());
        if (!candidate.controlled()) {
            builder.control(ControlSettings.off());
        }
        if (lease != null) {
            builder.lease(lease);
        }
        return new SimulatedWorker(world, builder, concurrency, handler);
    }

    /** How long one run may take. */
    Fleet timeout(Duration limit) {
        this.timeout = limit;
        return this;
    }

    /** How long a silent worker keeps its jobs. Of workers added later. */
    Fleet lease(Duration length) {
        this.lease = length;
        return this;
    }

    /** Who hears of everything. */
    Fleet listener(JobListener everything) {
        this.listener = everything;
        return this;
    }

    List<SimulatedWorker> workers() {
        return workers;
    }

    /** A job arrives at one worker's process after the other; whoever is free runs it. */
    void enqueue() {
        enqueue(world.now());
    }

    /** Finished or not, everything is known of it by this payload. */
    void enqueue(double payload) {
        Reprise reprise = workers.get(next).reprise();
        next = (next + 1) % workers.size();
        enqueued++;
        JobRequest<Double> job = SimulatedHandler.TYPE
                .job(payload)
                .queue(QUEUE)
                .resource("downstream")
                .retry(candidate.policy(random));
        reprise.enqueue(timeout == null ? job : job.timeout(timeout));
    }

    boolean isDone() {
        return succeeded + dead == enqueued;
    }

    long enqueued() {
        return enqueued;
    }

    long succeeded() {
        return succeeded;
    }

    /** Jobs given up. */
    long dead() {
        return dead;
    }

    private JobListener counting() {
        return event -> {
            listener.onEvent(event);
            if (event.kind() == JobEvent.Kind.SUCCEEDED) {
                succeeded++;
            } else if (event.kind() == JobEvent.Kind.FAILED) {
                dead++;
            }
        };
    }
}
