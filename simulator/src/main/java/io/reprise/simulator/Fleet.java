// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.JobEvent;
import io.reprise.JobListener;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Workers of one candidate on one store, and the jobs they are given. */
final class Fleet {

    private static final String QUEUE = "calls";

    private final World world;
    private final Candidate candidate;
    private final List<SimulatedWorker> workers = new ArrayList<>();
    private final RandomGenerator random;
    private int next;
    private long enqueued;
    private long succeeded;
    private long dead;

    Fleet(World world, Candidate candidate) {
        this.world = world;
        this.candidate = candidate;
        this.random = world.chance();
    }

    /** A builder for a worker of this fleet, so that an experiment can add what it needs. */
    RepriseBuilder builder(String name) {
        return Reprise.builder()
                .name(name)
                .queues(Queue.of(QUEUE))
                // What has ended is counted; kept, it would only fill the memory.
                .keepFinished(Duration.ofMinutes(1))
                .keepFailed(Duration.ofMinutes(1))
                .listener(counting());
    }

    Fleet with(int count, int concurrency, SimulatedHandler handler) {
        for (int i = 1; i <= count; i++) {
            workers.add(new SimulatedWorker(world, builder("worker-" + i), concurrency, handler));
        }
        return this;
    }

    List<SimulatedWorker> workers() {
        return workers;
    }

    /** A job arrives at one worker's process after the other; whoever is free runs it. */
    void enqueue() {
        Reprise reprise = workers.get(next).reprise();
        next = (next + 1) % workers.size();
        enqueued++;
        reprise.enqueue(SimulatedHandler.TYPE
                .job(world.now())
                .queue(QUEUE)
                .resource("downstream")
                .retry(candidate.policy(random)));
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
            if (event.kind() == JobEvent.Kind.SUCCEEDED) {
                succeeded++;
            } else if (event.kind() == JobEvent.Kind.FAILED) {
                dead++;
            }
        };
    }
}
