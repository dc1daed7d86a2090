// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.seeds.Told.say;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.ManualRetry;
import io.reprise.Operations;
import io.reprise.RemoteWorkers;
import io.reprise.Reprise;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.remote.RemoteLease;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.LoggerFactory;

/**
 * For users of OmniQ: {@code dequeue}, {@code complete_task} and {@code fail_task} in a loop of your own, on a SQLite
 * file. The queue owns the policy: the loop says how a run ended, never when the next one comes. {@link Omniq} runs it.
 */
public final class OmniqLoop {

    /** The arguments of a task: {@code args} and {@code kwargs}. The type of the job is the {@code func_path}. */
    record Call(List<String> args, Map<String, Integer> kwargs) {}

    private static final JobType<Call> PROCESS = JobType.of("my_module.process_data", Call.class);
    private static final JobType<Call> PAYMENT = JobType.of("my_module.process_payment", Call.class);

    /** The tasks as they ended, what the payments did, and what a monitor counted, for the test. */
    record Results(List<Job> ended, List<String> payments, Map<String, Integer> retryCounts, List<JobId> failed) {}

    private final Reprise queue;
    private final Set<String> charged = new HashSet<>();
    private final List<String> payments = new ArrayList<>();

    private OmniqLoop(Reprise queue) {
        this.queue = queue;
    }

    public static void main(String[] args) throws IOException {
        run(Files.createTempDirectory("omniq").resolve("tasks.db"));
    }

    static Results run(Path file) {
        // logging.getLogger("omniq").setLevel(logging.DEBUG): the lines about retries are at INFO.
        Logger logger = (Logger) LoggerFactory.getLogger("io.reprise");
        logger.setLevel(Level.INFO);
        try (Reprise queue = Reprise.builder()
                .store(JdbcJobStore.sqlite(file)) // SQLiteStorage("tasks.db")
                .retry(RetryPolicy.preset("omniq"))
                .remoteWorkers()
                .start()) {
            return new OmniqLoop(queue).play();
        } finally {
            logger.setLevel(null); // as in the configuration again
        }
    }

    private Results play() {
        say("enqueue(func_path, args, kwargs, max_retries=3, timeout=60)");
        JobId temporary = queue.enqueue(process("temporary"));
        List<JobId> tasks = List.of(
                queue.enqueue(process("good")),
                temporary,
                queue.enqueue(process("permanent")),
                queue.enqueue(PAYMENT.job(new Call(List.of("payment 7"), Map.of()))),
                queue.enqueue(process("good").after(Duration.ofDays(1))));
        say("reschedule(task_id, eta): task %s was for tomorrow, then for the next hour, and comes now", tasks.get(4));
        Operations ada = queue.as("ada", "it can run now");
        ada.reschedule(tasks.get(4), Instant.now().plus(Duration.ofHours(1)));
        ada.retry(tasks.get(4), ManualRetry.NOW); // an eta of now

        say("dequeue, then complete_task or fail_task:");
        boolean looked = false;
        while (tasks.stream().anyMatch(id -> !task(id).state().isTerminal())) {
            work();
            if (!looked && task(temporary).attempts() > 0) {
                looked = true;
                monitor(task(temporary));
            }
            LockSupport.parkNanos(20_000_000); // the poll interval of the worker
        }
        List<Job> ended = tasks.stream().map(this::task).toList();
        ended.forEach(job -> say("  task %s: %s", job.id(), job));
        return monitorRetries(ended);
    }

    private static JobRequest<Call> process(String what) {
        return PROCESS.job(new Call(List.of(what), Map.of("timeout", 30)))
                .retry(RetryPolicy.unset().maxRetries(3))
                .timeout(Duration.ofMinutes(1));
    }

    /** {@code get_task}. */
    private Job task(JobId id) {
        return queue.find(id).orElseThrow();
    }

    /** {@code dequeue}, and how each run ended. */
    private void work() {
        RemoteWorkers worker = queue.remoteWorkers();
        for (RemoteLease task : worker.lease(new RemoteLease.LeaseRequest(
                "loop", List.of(), Set.of(PROCESS.name(), PAYMENT.name()), 10, Duration.ofMinutes(1)))) {
            try {
                worker.complete(task.key(), execute(task));
            } catch (PermanentError e) {
                worker.fail(task.key(), failure(e).withGiven(FailureClass.PERMANENT)); // will_retry=False
            } catch (TemporaryError e) {
                worker.fail(task.key(), failure(e));
            }
        }
    }

    /** {@code fail_task(error, exception_type, traceback)}. */
    private static Failure failure(Exception e) {
        return Failure.reported(e.getClass().getSimpleName(), null, null, e.getMessage(), null)
                .withTrace("Full traceback here...");
    }

    private String execute(RemoteLease task) throws TemporaryError, PermanentError {
        String call = task.job().spec().payload();
        if (task.job().type().equals(PAYMENT.name())) {
            return pay(task);
        }
        if (call.contains("permanent")) {
            throw new PermanentError("no such record");
        }
        if (call.contains("temporary") && task.attempt() == 1) {
            throw new TemporaryError("Connection timeout");
        }
        return "{\"status\":\"processed\"}";
    }

    /** An idempotent task: it asks first whether the payment was made, because the answer to the first call was lost. */
    private String pay(RemoteLease task) throws TemporaryError {
        if (!charged.add(task.job().spec().payload())) {
            payments.add("already_processed");
            return "{\"status\":\"already_processed\"}";
        }
        payments.add("charged");
        throw new TemporaryError("Connection timeout after the charge");
    }

    private static void monitor(Job task) {
        int most = task.maxRetries().orElseThrow();
        say("  Task has been retried %d times", task.retryCount());
        say("  Max retries: %d", most);
        say("  Remaining retries: %d", most - task.retryCount());
    }

    /** {@code monitor_retries}: the retries of each function, and the failed tasks. Alerts need no such loop. */
    private Results monitorRetries(List<Job> ended) {
        Map<String, Integer> counts = new TreeMap<>();
        for (Job task : queue.find(JobQuery.all()).items()) {
            if (task.retryCount() > 0) {
                counts.merge(task.type(), task.retryCount(), Integer::sum);
            }
        }
        List<JobId> failed = queue.find(JobQuery.all().state(JobState.FAILED)).items().stream()
                .map(Job::id)
                .toList();
        say("Retries by function %s, failed tasks %s", counts, failed);
        return new Results(ended, payments, counts, failed);
    }

    private static final class TemporaryError extends Exception {
        private static final long serialVersionUID = 1L;

        TemporaryError(String message) {
            super(message);
        }
    }

    private static final class PermanentError extends Exception {
        private static final long serialVersionUID = 1L;

        PermanentError(String message) {
            super(message);
        }
    }
}
