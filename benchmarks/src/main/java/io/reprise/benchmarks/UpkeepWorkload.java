// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks;

import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.jackson.JacksonCodec;
import io.reprise.jdbc.JdbcJobStore;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** How a piece of upkeep keeps pace. */
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

    /** A number that the database tells, asked for until it is what it should be. */
    static void await(Target target, String query, long wanted) throws Exception {
        long end = System.nanoTime() + Trial.LIMIT.toNanos();
        while (target.number(query) != wanted) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException(query + " did not become " + wanted);
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    /** Whether a queue has live jobs: cheap to ask, so that who asks does not slow down what is measured. */
    static String live(String queue) {
        return "select count(*) from (select 1 as one from reprise_job where due_at is not null and queue = '" + queue
                + "' limit 1) l";
    }
}
