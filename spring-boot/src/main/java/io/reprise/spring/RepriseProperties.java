// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of Reprise in a Spring application. They have the names of the server's settings.
 *
 * @param enabled whether Reprise is configured at all
 * @param schema what the start does about the tables of Reprise
 * @param store where jobs live
 * @param worker the worker of this process
 * @param keep how long ended jobs and the audit log are kept
 * @param retry retry policy below those of job, type, resource and queue
 * @param types settings by job type
 * @param resources settings by resource
 * @param schedules rules by schedule; they replace those of the annotations
 * @param metrics meters for Micrometer
 * @param tracing spans for OpenTelemetry
 * @since 0.1.0
 */
@ConfigurationProperties("reprise")
public record RepriseProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("migrate") Schema schema,
        @DefaultValue Store store,
        @DefaultValue Worker worker,
        @DefaultValue Keep keep,
        @DefaultValue Retry retry,
        @DefaultValue Map<String, Type> types,
        @DefaultValue Map<String, ResourceSettings> resources,
        @DefaultValue Map<String, Rule> schedules,
        @DefaultValue Switch metrics,
        @DefaultValue Switch tracing) {

    /** The work of the start on the tables. */
    public enum Schema {
        /** Creates or upgrades them. */
        MIGRATE,
        /** Refuses to start if they are missing or behind. */
        VALIDATE,
        /** Does not look at them. */
        NONE
    }

    /** The kinds of databases. */
    public enum Kind {
        /** A DataSource: PostgreSQL, MySQL, MariaDB or SQLite. */
        JDBC,
        /** MongoDB. */
        MONGODB
    }

    /**
     * Where jobs live.
     *
     * @param kind the database for jobs, if the application has both kinds
     * @param datasource name of the DataSource bean, if there are several and none is primary
     * @param transactionManager name of the transaction manager of that database, if there are several and none is
     *     primary
     * @param pooler whether a pooler in transaction mode such as PgBouncer stands before PostgreSQL; then no
     *     connection listens for work
     * @param keepAttempts number of attempts that are kept for each job
     */
    public record Store(
            @Nullable Kind kind,
            @Nullable String datasource,
            @Nullable String transactionManager,
            @DefaultValue("false") boolean pooler,
            @Nullable Integer keepAttempts) {}

    /**
     * The worker of this process.
     *
     * @param enabled whether this process runs jobs; if not, it only enqueues them
     * @param name name of the worker, unique in the fleet; made up unless set
     * @param concurrency number of jobs that run at once
     * @param lease how long a silent worker keeps its jobs
     * @param poll longest time between two looks for work
     * @param stopGrace how long running jobs may finish at a shutdown; 70 % of
     *     spring.lifecycle.timeout-per-shutdown-phase unless set
     * @param queues queues that this worker serves; all unless set
     * @param offers what this worker offers to jobs that need it; nothing unless set
     */
    public record Worker(
            @DefaultValue("true") boolean enabled,
            @Nullable String name,
            @DefaultValue("10") int concurrency,
            @DefaultValue("30s") Duration lease,
            @DefaultValue("1s") Duration poll,
            @Nullable Duration stopGrace,
            @DefaultValue List<String> queues,
            @DefaultValue List<String> offers) {}

    /**
     * How long ended jobs and the audit log are kept.
     *
     * @param finished how long succeeded and cancelled jobs are kept
     * @param failed how long dead letters are kept; without limit unless set
     * @param audit how long the audit log is kept
     */
    public record Keep(
            @DefaultValue("7d") Duration finished,
            @Nullable Duration failed,
            @DefaultValue("365d") Duration audit) {}

    /**
     * A retry policy. Fields that are not set come from the next lower layer.
     *
     * @param preset name of a preset that the other fields change
     * @param maxAttempts number of attempts at most, the first included
     * @param base delay of the first retry, before jitter
     * @param factor factor between two delays
     * @param cap longest delay
     * @param deadline limit of the job with all its retries
     */
    public record Retry(
            @Nullable String preset,
            @Nullable Integer maxAttempts,
            @Nullable Duration base,
            @Nullable Double factor,
            @Nullable Duration cap,
            @Nullable Duration deadline) {}

    /**
     * Settings of a job type. They take precedence over the annotation.
     *
     * @param queue queue of jobs that name none
     * @param resource resource of jobs that name none
     * @param timeout time limit of one run, for jobs that set none
     * @param retry retry policy of the type
     * @param elsewhere whether another application handles the type, so that this one may enqueue it without a handler
     */
    public record Type(
            @Nullable String queue,
            @Nullable String resource,
            @Nullable Duration timeout,
            @DefaultValue Retry retry,
            @DefaultValue("false") boolean elsewhere) {}

    /**
     * Settings of a resource.
     *
     * @param retry retry policy of jobs that name the resource
     * @param breaker whether the resource has a breaker
     * @param budget retry budget of the resource
     */
    public record ResourceSettings(
            @DefaultValue Retry retry,
            @DefaultValue("true") boolean breaker,
            @DefaultValue Budget budget) {}

    /**
     * A retry budget.
     *
     * @param capacity credit at most; a retry costs 14
     * @param floor retries per second that are granted in any case
     */
    public record Budget(
            @Nullable Double capacity, @Nullable Double floor) {}

    /**
     * The rule of a schedule.
     *
     * @param cron cron expression; - removes the schedule
     * @param every interval in place of a cron expression
     * @param fixedDelay time from the end of one job to the next firing, in place of a cron expression
     * @param zone time zone of the cron expression
     */
    public record Rule(
            @Nullable String cron,
            @Nullable Duration every,
            @Nullable Duration fixedDelay,
            @Nullable String zone) {}

    /**
     * A part that is on unless it is switched off.
     *
     * @param enabled whether the part is on
     */
    public record Switch(@DefaultValue("true") boolean enabled) {}
}
