// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.upkeep;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.workload.RepriseWorkload;
import io.reprise.benchmarks.workload.Trial;
import io.reprise.jackson.JacksonCodec;
import io.reprise.jdbc.JdbcJobStore;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Measures whether a piece of upkeep keeps pace. */
abstract class UpkeepWorkload implements RepriseWorkload {

    @Override
    public final boolean alone() {
        return true;
    }

    @Override
    public final List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        return measure(trial, trial.install());
    }

    abstract List<Figure> measure(Trial trial, Target target) throws Exception;

    static RepriseBuilder reprise(Target target) {
        return Reprise.builder().store(JdbcJobStore.open(target.jdbcUrl())).codec(new JacksonCodec());
    }

    /** Repeats a query until it returns the wanted number. */
    static void await(Target target, String query, long wanted) throws Exception {
        long end = System.nanoTime() + Trial.LIMIT.toNanos();
        while (target.number(query) != wanted) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException(query + " did not become " + wanted);
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    /** A query whether a queue has live jobs. It is cheap, so that it does not slow the measured work. */
    static String live(String queue) {
        return "select count(*) from (select 1 as one from reprise_job where due_at is not null and queue = '" + queue
                + "' limit 1) l";
    }
}
