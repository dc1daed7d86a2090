// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/**
 * Quartz with a clustered JDBC job store. It takes triggers in batches as large as the thread pool. It has no durable
 * retry: a failed job is run again in memory at once.
 */
final class QuartzSystem implements QueueSystem {

    private static final String SCRIPTS = "/org/quartz/impl/jdbcjobstore/";
    private static final String PAYLOAD = "payload";
    private static final int THREADS = 16;
    private static final int CHUNK = 500;

    @Override
    public String name() {
        return "quartz";
    }

    @Override
    public @Nullable String cannot(String workload, StoreKind store) {
        if (store == StoreKind.SQLITE) {
            return "has no SQLite tables";
        }
        if (store == StoreKind.MARIADB && workload.equals("W5")) {
            return "cannot be filled quickly on MariaDB";
        }
        return workload.equals("W6") ? "keeps no finished jobs and no dead letters" : null;
    }

    @Override
    public double share() {
        return 0.02;
    }

    @Override
    public int least() {
        return 400;
    }

    @Override
    public void install(Target target) throws SQLException, IOException {
        boolean mariadb = target.store() == StoreKind.MARIADB;
        String name = SCRIPTS + (mariadb ? "tables_mysql_innodb.sql" : "tables_postgres.sql");
        try (InputStream script = Scheduler.class.getResourceAsStream(name)) {
            if (script == null) {
                throw new IllegalStateException("Quartz has no " + name);
            }
            String sql = new String(script.readAllBytes(), StandardCharsets.UTF_8);
            target.execute(mariadb ? statements(sql) : new String[] {sql});
        }
    }

    private static String[] statements(String script) {
        return Arrays.stream(script.replaceAll("(?m)^#.*$", "").split(";"))
                .filter(statement -> !statement.isBlank())
                .toArray(String[]::new);
    }

    @Override
    public Installation open(Target target) throws SchedulerException {
        return new Opened(target);
    }

    /** Never instantiated: the factory of the scheduler returns jobs with the handler. */
    public static final class Work implements Job {
        @Override
        public void execute(JobExecutionContext context) {
            throw new IllegalStateException("not made by the factory");
        }
    }

    private static Properties settings(Target target) {
        Properties settings = new Properties();
        settings.setProperty("org.quartz.scheduler.instanceName", "bench");
        settings.setProperty("org.quartz.scheduler.instanceId", "AUTO");
        settings.setProperty("org.quartz.scheduler.idleWaitTime", "1000");
        settings.setProperty("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", Integer.toString(THREADS));
        settings.setProperty("org.quartz.threadPool.threadCount", Integer.toString(THREADS));
        settings.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
        boolean mariadb = target.store() == StoreKind.MARIADB;
        settings.setProperty(
                "org.quartz.jobStore.driverDelegateClass",
                "org.quartz.impl.jdbcjobstore." + (mariadb ? "StdJDBCDelegate" : "PostgreSQLDelegate"));
        settings.setProperty("org.quartz.jobStore.useProperties", "true");
        settings.setProperty("org.quartz.jobStore.isClustered", "true");
        settings.setProperty("org.quartz.jobStore.acquireTriggersWithinLock", "true");
        // Jobs that waited for more than a minute are not misfires here; there are only many of them.
        settings.setProperty("org.quartz.jobStore.misfireThreshold", "3600000");
        settings.setProperty("org.quartz.jobStore.dataSource", "bench");
        settings.setProperty("org.quartz.dataSource.bench.provider", "hikaricp");
        settings.setProperty(
                "org.quartz.dataSource.bench.driver", mariadb ? "org.mariadb.jdbc.Driver" : "org.postgresql.Driver");
        settings.setProperty("org.quartz.dataSource.bench.URL", target.jdbcUrl());
        settings.setProperty("org.quartz.dataSource.bench.user", mariadb ? "root" : "postgres");
        settings.setProperty("org.quartz.dataSource.bench.maxConnections", Integer.toString(THREADS + 4));
        return settings;
    }

    private static final class Opened implements Installation {

        private final Target target;
        private final Relay relay = new Relay();
        private final Scheduler scheduler;

        Opened(Target target) throws SchedulerException {
            this.target = target;
            this.scheduler = new StdSchedulerFactory(settings(target)).getScheduler();
            scheduler.setJobFactory((bundle, owner) -> this::execute);
        }

        private void execute(JobExecutionContext context) throws JobExecutionException {
            try {
                relay.run(context.getMergedJobDataMap().getString(PAYLOAD));
            } catch (Exception e) {
                throw new JobExecutionException(e, true);
            }
        }

        private static JobDetail job(String payload) {
            return JobBuilder.newJob(Work.class)
                    .withIdentity(UUID.randomUUID().toString())
                    .usingJobData(PAYLOAD, payload)
                    .build();
        }

        private static Trigger trigger(JobDetail job, Instant at) {
            return TriggerBuilder.newTrigger()
                    .forJob(job)
                    .withIdentity(job.getKey().getName())
                    .startAt(Date.from(at))
                    .build();
        }

        @Override
        public void enqueue(String payload) throws SchedulerException {
            JobDetail job = job(payload);
            scheduler.scheduleJob(job, trigger(job, Instant.now()));
        }

        @Override
        public void enqueueAll(List<String> payloads) throws SchedulerException {
            for (int from = 0; from < payloads.size(); from += CHUNK) {
                Map<JobDetail, Set<? extends Trigger>> jobs = new HashMap<>();
                for (String payload : payloads.subList(from, Math.min(payloads.size(), from + CHUNK))) {
                    JobDetail job = job(payload);
                    jobs.put(job, Set.of(trigger(job, Instant.now())));
                }
                scheduler.scheduleJobs(jobs, false);
            }
        }

        @Override
        public void fillScheduled(int jobs) throws SchedulerException, SQLException {
            JobDetail seed = job(Payloads.of(0));
            scheduler.scheduleJob(seed, trigger(seed, Instant.now().plus(Duration.ofDays(1))));
            // Storing them one by one would take a quarter of an hour.
            String copies = " from generate_series(2, " + jobs + ") n, ";
            target.execute(
                    "insert into qrtz_job_details select sched_name, 'fill-' || n, job_group, description,"
                            + " job_class_name, is_durable, is_nonconcurrent, is_update_data, requests_recovery, job_data"
                            + copies + "qrtz_job_details",
                    "insert into qrtz_triggers select sched_name, 'fill-' || n, trigger_group, 'fill-' || n, job_group,"
                            + " description, next_fire_time, prev_fire_time, priority, trigger_state, trigger_type,"
                            + " start_time, end_time, calendar_name, misfire_instr, job_data" + copies
                            + "qrtz_triggers",
                    "insert into qrtz_simple_triggers select sched_name, 'fill-' || n, trigger_group, repeat_count,"
                            + " repeat_interval, times_triggered" + copies + "qrtz_simple_triggers");
        }

        @Override
        public void start(Handler handler) throws SchedulerException {
            relay.to(handler);
            scheduler.start();
        }

        @Override
        public boolean isSettled() throws SQLException {
            return left() == 0;
        }

        @Override
        public long left() throws SQLException {
            return target.number("select (select count(*) from qrtz_triggers where next_fire_time <= "
                    + System.currentTimeMillis() + ") + (select count(*) from qrtz_fired_triggers)");
        }

        @Override
        public void close() {
            try {
                scheduler.shutdown(true);
            } catch (SchedulerException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
