// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.CpuTime;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Time and CPU of a drain.
 *
 * @param nanos from the first run to the last commit
 * @param worker CPU of the process that ran the jobs
 * @param database CPU of the database; null if it cannot be told
 */
record Drained(
        int jobs, long nanos, Duration worker, @Nullable Duration database) {

    static final String WORKER_CPU = "workerCpuUs";
    static final String DATABASE_CPU = "databaseCpuUs";

    /** Begins to count. */
    static Start start(Target target, Duration worker) throws SQLException {
        return new Start(target, worker, CpuTime.ofDatabase(target));
    }

    /** CPU that was used before the drain. */
    record Start(Target target, Duration worker, @Nullable Duration database) {

        Drained end(int jobs, long nanos, Duration workerNow) throws SQLException {
            Duration databaseNow = CpuTime.ofDatabase(target);
            return new Drained(
                    jobs,
                    nanos,
                    workerNow.minus(worker),
                    database == null || databaseNow == null ? null : databaseNow.minus(database));
        }
    }

    double rate() {
        return jobs * 1e9 / nanos;
    }

    Figure figure(String workload) {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(Figure.RATE, rate());
        values.putAll(cpu());
        return new Figure(workload, values);
    }

    /** Microseconds for each job. */
    Map<String, Double> cpu() {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(WORKER_CPU, worker.toNanos() / 1e3 / jobs);
        if (database != null) {
            values.put(DATABASE_CPU, database.toNanos() / 1e3 / jobs);
        }
        return values;
    }
}
