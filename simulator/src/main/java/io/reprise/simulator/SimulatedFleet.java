// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import io.reprise.JobListener;
import io.reprise.JobRequest;
import io.reprise.Queue;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.control.ControlSettings;
import io.reprise.insight.JobEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The workers of one candidate on one store, and their jobs. */
public final class SimulatedFleet {

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

    public SimulatedFleet(World world, Candidate candidate) {
        this.world = world;
        this.candidate = candidate;
        this.random = world.chance();
    }

    public SimulatedFleet with(int count, int concurrency, SimulatedHandler handler) {
        for (int i = 0; i < count; i++) {
            workers.add(worker(concurrency, handler));
        }
        return this;
    }

    /** Replaces a worker that died. */
    public void replace(SimulatedWorker died, int concurrency, SimulatedHandler handler) {
        workers.set(workers.indexOf(died), worker(concurrency, handler));
    }

    private SimulatedWorker worker(int concurrency, SimulatedHandler handler) {
        RepriseBuilder builder = Reprise.builder()
                .name("worker-" + ++started)
                .queues(Queue.of(QUEUE))
                // Ended jobs are already counted; keeping them would only fill the memory.
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

    /** Sets how long one run may take. */
    public SimulatedFleet timeout(Duration limit) {
        this.timeout = limit;
        return this;
    }

    /** Sets how long a silent worker keeps its jobs. It applies to workers added later. */
    public SimulatedFleet lease(Duration length) {
        this.lease = length;
        return this;
    }

    /** Sets a listener for all events. */
    SimulatedFleet listener(JobListener everything) {
        this.listener = everything;
        return this;
    }

    public List<SimulatedWorker> workers() {
        return workers;
    }

    /** Enqueues a job, through one worker after the other. Any free worker runs it. */
    public void enqueue() {
        enqueue(world.now());
    }

    /** Enqueues a job. The payload identifies it, finished or not. */
    public void enqueue(double payload) {
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

    public boolean isDone() {
        return succeeded + dead == enqueued;
    }

    public long enqueued() {
        return enqueued;
    }

    public long succeeded() {
        return succeeded;
    }

    /** Returns the number of dead letters. */
    public long dead() {
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
