// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.Ledger;
import java.util.List;

/** Bytes of PostgreSQL's write-ahead log per job, for its enqueue in bulk and for its drain. */
public final class WalBytes implements Workload {

    private static final int JOBS = 100_000;
    private static final String UNIT = "walBytesPerJob";

    @Override
    public String name() {
        return "WAL";
    }

    @Override
    public String title() {
        return "bytes of write-ahead log per job: bulk enqueue, drain";
    }

    @Override
    public boolean on(StoreKind store) {
        return store == StoreKind.POSTGRESQL;
    }

    @Override
    public boolean alsoCold() {
        return false;
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        int jobs = trial.sizes().jobs(JOBS);
        Target target = trial.install();
        try (Installation installation = trial.system().open(target)) {
            long before = target.walBytes();
            installation.enqueueAll(Payloads.range(0, jobs));
            long loaded = target.walBytes();
            target.tidy();
            Ledger ledger = new Ledger(jobs, 0);
            long tidied = target.walBytes();
            installation.start(ledger);
            ledger.await(Trial.LIMIT);
            Trial.awaitSettled(installation);
            long drained = target.walBytes();
            ledger.check();
            Trial.checkEmpty(installation);
            return List.of(
                    Figure.of("WAL-enqueue", UNIT, (loaded - before) / (double) jobs),
                    Figure.of("WAL-drain", UNIT, (drained - tidied) / (double) jobs));
        }
    }
}
