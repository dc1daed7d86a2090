// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static io.reprise.examples.Example.say;

import io.reprise.JobType;
import io.reprise.RemoteWorkers;
import io.reprise.Reprise;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.remote.RemoteLease;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * For users of OmniQ: {@code dequeue}, {@code complete_task} and {@code fail_task} in a loop of your own, on a SQLite
 * file. The queue owns the policy: the loop says how a run ended, never when the next one comes.
 */
public final class OmniqLoop {

    private static final JobType<String> PROCESS = JobType.of("process_data", String.class);

    private OmniqLoop() {}

    public static void main(String[] args) throws IOException {
        run(Files.createTempDirectory("omniq").resolve("tasks.db"));
    }

    static List<Job> run(Path file) {
        try (Reprise queue = Reprise.builder()
                .store(JdbcJobStore.sqlite(file))
                .retry(RetryPolicy.preset("omniq"))
                .remoteWorkers()
                .start()) {
            List<JobId> tasks = List.of(
                    queue.enqueue(PROCESS.job("good")),
                    queue.enqueue(PROCESS.job("temporary")),
                    queue.enqueue(PROCESS.job("permanent")));
            RemoteWorkers worker = queue.remoteWorkers();
            while (!tasks.stream().allMatch(id -> task(queue, id).state().isTerminal())) {
                worker.lease(new RemoteLease.LeaseRequest(
                                "loop", List.of(), Set.of(PROCESS.name()), 10, Duration.ofMinutes(1)))
                        .forEach(lease -> work(worker, lease));
            }
            List<Job> ended = tasks.stream().map(id -> task(queue, id)).toList();
            ended.forEach(job -> say("%s: %s after %d attempts", job.spec().payload(), job.state(), job.attempts()));
            return ended;
        }
    }

    private static Job task(Reprise queue, JobId id) {
        return queue.find(id).orElseThrow();
    }

    private static void work(RemoteWorkers worker, RemoteLease lease) {
        String task = lease.job().spec().payload();
        if (task.contains("permanent")) {
            Failure failure = Failure.reported("PermanentError", null, null, "no such record", null);
            worker.fail(lease.key(), failure.withGiven(FailureClass.PERMANENT));
        } else if (task.contains("temporary") && lease.attempt() == 1) {
            worker.fail(lease.key(), Failure.reported("TemporaryError", null, null, "connection timeout", null));
        } else {
            worker.complete(lease.key(), "{\"status\":\"processed\"}");
        }
    }
}
