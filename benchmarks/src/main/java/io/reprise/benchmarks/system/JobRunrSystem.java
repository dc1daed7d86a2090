// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import com.zaxxer.hikari.HikariDataSource;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.configuration.JobRunrConfiguration.JobRunrConfigurationResult;
import org.jobrunr.jobs.Job;
import org.jobrunr.jobs.filters.RetryFilter;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.sql.mariadb.MariaDbStorageProvider;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.storage.sql.sqlite.SqLiteStorageProvider;
import org.jobrunr.utils.mapper.jackson3.Jackson3JsonMapper;
import org.jspecify.annotations.Nullable;

/**
 * JobRunr OSS with the shortest poll interval that it accepts for SQL, job requests instead of lambdas, and bulk
 * enqueue by stream. Its retries have no delay of their own; a failed job waits for the next poll.
 */
final class JobRunrSystem implements QueueSystem {

    private static final int POLL_SECONDS = 5;
    private static final int WORKERS = 16;

    @Override
    public String name() {
        return "jobrunr";
    }

    @Override
    public @Nullable String cannot(String workload, StoreKind store) {
        boolean filled = workload.equals("W5") || workload.equals("W6");
        return store != StoreKind.POSTGRESQL && filled ? "cannot be filled quickly there" : null;
    }

    @Override
    public double share() {
        return 0.2;
    }

    @Override
    public void install(Target target) throws Exception {
        if (target.store() == StoreKind.SQLITE) {
            target.execute("pragma journal_mode = wal");
        }
        open(target).close();
    }

    @Override
    public Installation open(Target target) {
        return new Opened(target);
    }

    /** Public, with a constructor without arguments, as JobRunr requires. */
    public static final class Request implements JobRequest {

        private String payload = "";

        public Request() {}

        Request(String payload) {
            this.payload = payload;
        }

        public String getPayload() {
            return payload;
        }

        public void setPayload(String payload) {
            this.payload = payload;
        }

        @Override
        public Class<RequestHandler> getJobRequestHandler() {
            return RequestHandler.class;
        }
    }

    /** The activator creates it with the handler of the jobs. */
    public static final class RequestHandler implements JobRequestHandler<Request> {

        private final Handler handler;

        RequestHandler(Handler handler) {
            this.handler = handler;
        }

        @Override
        public void run(Request request) throws Exception {
            handler.run(request.getPayload());
        }
    }

    private static final class AtOnce extends RetryFilter {
        @Override
        protected long getSecondsToAdd(Job job) {
            return 0;
        }
    }

    private static final class Opened implements Installation {

        private final Target target;
        private final HikariDataSource source;
        private final Relay relay = new Relay();
        private final JobRunrConfigurationResult running;
        private final JobRequestScheduler scheduler;
        private boolean paused;

        Opened(Target target) {
            this.target = target;
            this.source = Pools.open(target, target.store() == StoreKind.SQLITE ? 1 : 20, "");
            RequestHandler handler = new RequestHandler(relay);
            JobActivator activator = new JobActivator() {
                @Override
                public <T> T activateJob(Class<T> type) {
                    return type.cast(handler);
                }
            };
            this.running = JobRunr.configure()
                    .useJsonMapper(new Jackson3JsonMapper())
                    .useStorageProvider(provider())
                    .useJobActivator(activator)
                    .withJobFilter(new AtOnce())
                    .useBackgroundJobServer(
                            BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                                    .andPollInterval(Duration.ofSeconds(POLL_SECONDS))
                                    .andWorkerCount(WORKERS),
                            false)
                    .initialize();
            this.scheduler = running.getJobRequestScheduler();
        }

        private StorageProvider provider() {
            return switch (target.store()) {
                case POSTGRESQL -> new PostgresStorageProvider(source);
                case MARIADB -> new MariaDbStorageProvider(source);
                case SQLITE -> new SqLiteStorageProvider(source);
            };
        }

        @Override
        public void enqueue(String payload) {
            scheduler.enqueue(new Request(payload));
        }

        @Override
        public void enqueueAll(List<String> payloads) {
            scheduler.enqueue(payloads.stream().map(Request::new));
        }

        @Override
        public void fillScheduled(int jobs) throws SQLException, InterruptedException {
            startPaused();
            scheduler.schedule(Instant.now().plus(Duration.ofDays(1)), new Request(Payloads.of(0)));
            multiply("SCHEDULED", jobs - 1);
        }

        @Override
        public void fillFinished(int succeeded, int failed) throws SQLException, InterruptedException {
            startPaused();
            multiply("SUCCEEDED", succeeded + failed - 1);
            // Only the column says that they failed: JobRunr reads the text of such a job only when it is shown.
            target.execute("update jobrunr_jobs set state = 'FAILED' where random() < "
                    + failed / (double) (succeeded + failed));
        }

        /**
         * A server reads all jobs when it starts, which takes minutes if there are many. So it
         * starts before they exist.
         */
        private void startPaused() throws SQLException, InterruptedException {
            CountDownLatch ran = new CountDownLatch(1);
            start(payload -> ran.countDown());
            enqueue(Payloads.of(0));
            ran.await();
            while (!isSettled()) {
                Thread.sleep(10);
            }
            running.getBackgroundJobServer().pauseProcessing();
            paused = true;
        }

        /** Copies the one job in a state, each copy with its own id. */
        private void multiply(String state, int copies) throws SQLException {
            target.execute(
                    "insert into jobrunr_jobs (id, version, jobasjson, jobsignature, state, createdat, updatedat,"
                            + " scheduledat) select u.id, j.version, replace(j.jobasjson, trim(j.id), u.id), j.jobsignature,"
                            + " j.state, j.createdat, j.updatedat, j.scheduledat from jobrunr_jobs j,"
                            + " lateral (select gen_random_uuid()::text as id from generate_series(1, " + copies
                            + ") where j.id is not null) u where j.state = '" + state + "'");
        }

        @Override
        public void start(Handler handler) {
            relay.to(handler);
            if (paused) {
                running.getBackgroundJobServer().resumeProcessing();
            } else {
                running.getBackgroundJobServer().start();
            }
        }

        @Override
        public boolean isSettled() throws SQLException {
            return left() == 0;
        }

        @Override
        public long left() throws SQLException {
            return target.number("select count(*) from jobrunr_jobs where state in ('ENQUEUED', 'PROCESSING')");
        }

        @Override
        public void close() {
            JobRunr.destroy();
            source.close();
        }
    }
}
