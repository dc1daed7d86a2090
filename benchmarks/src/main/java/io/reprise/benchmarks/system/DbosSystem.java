// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import com.zaxxer.hikari.HikariDataSource;
import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * DBOS Transact. Workflows are called in this process by as many threads as there are connections, without its queue:
 * that is its fastest way to run steps. Only jobs of steps are measured.
 */
final class DbosSystem implements QueueSystem {

    /** A workflow is a method of an interface, because a proxy calls it. */
    interface Flow {
        void run(String payload);
    }

    @Override
    public String name() {
        return "dbos";
    }

    @Override
    public boolean hasSteps() {
        return true;
    }

    @Override
    public @Nullable String cannot(String workload, StoreKind store) {
        if (store != StoreKind.POSTGRESQL) {
            return "needs PostgreSQL";
        }
        return workload.equals("D1") ? null : "is measured for its steps only";
    }

    @Override
    public double share() {
        return 0.2;
    }

    @Override
    public int least() {
        return 500;
    }

    @Override
    public void install(Target target) {
        // Its launch creates the tables.
    }

    @Override
    public Installation open(Target target) {
        return new Opened(target);
    }

    private static final class Opened implements Installation {

        private final Target target;
        private final HikariDataSource source;
        private final List<String> stored = new ArrayList<>();
        private final LongAdder ended = new LongAdder();
        private final ExecutorService threads = Executors.newFixedThreadPool(STEP_RUNS);
        private @Nullable DBOS dbos;

        Opened(Target target) {
            this.target = target;
            this.source = Pools.open(target, STEP_RUNS, "");
        }

        @Override
        public void enqueue(String payload) {
            stored.add(payload);
        }

        @Override
        public void enqueueAll(List<String> payloads) {
            stored.addAll(payloads);
        }

        @Override
        public void fillScheduled(int jobs) {
            throw new IllegalStateException("only its steps are measured");
        }

        @Override
        public void start(Handler handler) {
            startSteps(handler, 0);
        }

        @Override
        public void startSteps(Handler handler, int steps) {
            DBOS started = new DBOS(DBOSConfig.defaults("bench").withDataSource(source));
            dbos = started;
            Flow flow = started.registerProxy(Flow.class, new Steps(started, handler, steps));
            started.launch();
            for (String payload : stored) {
                threads.execute(() -> {
                    flow.run(payload);
                    ended.increment();
                });
            }
        }

        @Override
        public boolean isSettled() {
            return ended.sum() == stored.size();
        }

        @Override
        public long left() throws SQLException {
            return target.number("select count(*) from dbos.workflow_status where status <> 'SUCCESS'");
        }

        @Override
        public void close() {
            threads.shutdownNow();
            if (dbos != null) {
                dbos.close();
            }
            source.close();
        }
    }

    /** The workflow. */
    static final class Steps implements Flow {

        private final DBOS dbos;
        private final Handler handler;
        private final int steps;

        Steps(DBOS dbos, Handler handler, int steps) {
            this.dbos = dbos;
            this.handler = handler;
            this.steps = steps;
        }

        @Override
        @Workflow(name = "steps")
        public void run(String payload) {
            handler.begin();
            for (int i = 0; i < steps; i++) {
                dbos.runStep(() -> {}, "step-" + i);
            }
            try {
                handler.run(payload);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
