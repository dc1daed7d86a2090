// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.FailureHandler;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * db-scheduler with the settings that its documentation gives for high throughput: lock-and-fetch between 1 and 4 times
 * the threads. The poll interval here is so short that it never waits long.
 */
final class DbSchedulerSystem implements QueueSystem {

    private static final int THREADS = 50;
    private static final Duration POLL = Duration.ofMillis(10);

    @Override
    public String name() {
        return "db-scheduler";
    }

    @Override
    public @Nullable String cannot(String workload, StoreKind store) {
        if (store != StoreKind.POSTGRESQL) {
            return "has no lock-and-fetch there";
        }
        return workload.equals("W6") ? "keeps no finished jobs and no dead letters" : null;
    }

    @Override
    public double share() {
        return 0.5;
    }

    @Override
    public void install(Target target) throws SQLException {
        target.execute(
                """
                create table scheduled_tasks (
                  task_name            text        not null,
                  task_instance        text        not null,
                  task_data            bytea,
                  execution_time       timestamptz,
                  picked               boolean     not null,
                  picked_by            text,
                  last_success         timestamptz,
                  last_failure         timestamptz,
                  consecutive_failures integer,
                  last_heartbeat       timestamptz,
                  version              bigint      not null,
                  priority             smallint,
                  state                text,
                  primary key (task_name, task_instance))
                """,
                "create index execution_time_idx on scheduled_tasks (execution_time)",
                "create index last_heartbeat_idx on scheduled_tasks (last_heartbeat)");
    }

    @Override
    public Installation open(Target target) {
        return new Opened(target);
    }

    private static final class Opened implements Installation {

        private final Target target;
        private final HikariDataSource source;
        private final Relay relay = new Relay();
        private final OneTimeTask<String> task = Tasks.oneTime("work", String.class)
                .onFailure(new FailureHandler.OnFailureRetryLater<>(Duration.ZERO))
                .execute((instance, context) -> run(instance.getData()));
        private final SchedulerClient client;
        private @Nullable Scheduler scheduler;

        Opened(Target target) {
            this.target = target;
            this.source = Pools.open(target, 20, "&reWriteBatchedInserts=true");
            this.client = SchedulerClient.Builder.create(source, task).build();
        }

        private void run(String payload) {
            try {
                relay.run(payload);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void enqueue(String payload) {
            client.scheduleIfNotExists(task.instance(UUID.randomUUID().toString(), payload), Instant.now());
        }

        @Override
        public void enqueueAll(List<String> payloads) {
            schedule(payloads, Instant.now());
        }

        @Override
        public void fillScheduled(int jobs) {
            schedule(Payloads.range(0, jobs), Instant.now().plus(Duration.ofDays(1)));
        }

        private void schedule(List<String> payloads, Instant due) {
            client.scheduleBatch(
                    payloads.stream()
                            .map(payload -> task.instance(UUID.randomUUID().toString(), payload)),
                    due);
        }

        @Override
        public void start(Handler handler) {
            relay.to(handler);
            scheduler = Scheduler.create(source, task)
                    .threads(THREADS)
                    .pollingInterval(POLL)
                    .pollUsingLockAndFetch(1.0, 4.0)
                    .build();
            scheduler.start();
        }

        @Override
        public boolean isSettled() throws SQLException {
            return left() == 0;
        }

        @Override
        public long left() throws SQLException {
            return target.number("select count(*) from scheduled_tasks where execution_time <= now()");
        }

        @Override
        public void close() {
            if (scheduler != null) {
                scheduler.stop();
            }
            source.close();
        }
    }
}
