// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.benchmarks.measure.CpuTime;
import java.time.Duration;
import java.util.List;

/** A queue in one database, as one process sees it. Closing stops its worker. */
public interface Installation extends AutoCloseable {

    /** How many jobs of steps run at once, the same for every system. */
    int STEP_RUNS = 50;

    /** Commits one job. Several threads call it at once. */
    void enqueue(String payload) throws Exception;

    /** Commits one job so that an idle worker of another process is woken at once, if the system can do that. */
    default void enqueueUrgent(String payload) throws Exception {
        enqueue(payload);
    }

    /** Commits many jobs in the system's fastest way. */
    void enqueueAll(List<String> payloads) throws Exception;

    /** Stores jobs that are due in a day. */
    void fillScheduled(int jobs) throws Exception;

    /** Stores finished jobs, some succeeded and some dead letters, for systems that keep such jobs. */
    default void fillFinished(int succeeded, int failed) throws Exception {
        throw new IllegalStateException("a system that keeps no finished jobs says so instead of being measured");
    }

    /** Starts a worker in this process. */
    void start(Handler handler) throws Exception;

    /**
     * Starts a worker in this process whose jobs store so many steps, one after another, before the handler. If there are
     * steps, {@link #STEP_RUNS} jobs run at once.
     */
    default void startSteps(Handler handler, int steps) throws Exception {
        throw new IllegalStateException("a system without steps says so instead of being measured");
    }

    /**
     * Whether the outcome of every run so far is committed. It must be quick, because it is asked while the clock runs.
     */
    boolean isSettled() throws Exception;

    /** CPU that the worker's process has used so far. */
    default Duration workerCpu() {
        return CpuTime.own();
    }

    /** Jobs in the store that are due or running. */
    long left() throws Exception;

    @Override
    void close();
}
