// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.system.Databases;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.Ledger;
import io.reprise.benchmarks.system.QueueSystem;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * One measurement of one system in its own process, so that heap, caches and compiled code of
 * another system have no effect.
 */
public final class Trial {

    public static final Duration LIMIT = Duration.ofMinutes(15);
    private static final int FIRST_CHUNK = 400;
    private static final int LAST_CHUNK = 50_000;

    private final QueueSystem system;
    private final Databases databases;
    private final RunSizes sizes;

    public Trial(QueueSystem system, Databases databases, RunSizes sizes) {
        this.system = system;
        this.databases = databases;
        this.sizes = sizes;
    }

    public QueueSystem system() {
        return system;
    }

    public RunSizes sizes() {
        return sizes;
    }

    /** Returns an empty database with the system's tables. */
    public Target install() throws Exception {
        Target target = databases.fresh();
        system.install(target);
        return target;
    }

    /** Drains other databases, the way that is measured, until the code is compiled; few jobs only if it is to be cold. */
    public void warmUp(int failures) throws Exception {
        long began = System.nanoTime();
        int done = 0;
        for (int next = FIRST_CHUNK; !sizes.isWarm(began, done); next = Math.min(2 * next, LAST_CHUNK)) {
            int jobs = sizes.cold() ? sizes.coldJobs() : next;
            Target target = install();
            try (Installation installation = system.open(target)) {
                drain(target, installation, jobs, failures);
            }
            done += jobs;
        }
    }

    /** Loads jobs, starts a worker, and measures it from the first run to the last commit. */
    Drained drain(Target target, Installation installation, int jobs, int failures) throws Exception {
        installation.enqueueAll(Payloads.range(0, jobs));
        target.tidy();
        Ledger ledger = new Ledger(jobs, failures);
        Drained.Start start = Drained.start(target, installation.workerCpu());
        installation.start(ledger);
        ledger.await(LIMIT);
        awaitSettled(installation);
        long nanos = System.nanoTime() - ledger.firstRunNanos();
        Drained drained = start.end(jobs, nanos, installation.workerCpu());
        ledger.check();
        checkEmpty(installation);
        return drained;
    }

    static void awaitSettled(Installation installation) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!installation.isSettled()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("jobs ran, but their outcome was not stored in " + LIMIT);
            }
            LockSupport.parkNanos(200_000);
        }
    }

    static void checkEmpty(Installation installation) throws Exception {
        long left = installation.left();
        if (left != 0) {
            throw new IllegalStateException(left + " jobs are left over");
        }
    }
}
