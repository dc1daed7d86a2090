// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.job.WaitReason;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.LostClaim;
import io.reprise.store.Settlement;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers that lose leases, takers that settle for them, and someone who cancels, all at once, through two stores. */
class RaceTest {

    private static final int JOBS = 600;
    private static final int WORKERS = 4;

    @TempDir
    Path directory;

    /** How often each job was accepted as succeeded. */
    private final Map<JobId, Integer> successes = new ConcurrentHashMap<>();

    @Test
    void every_job_ends_once_on_sqlite() throws Exception {
        Path file = directory.resolve("jobs.db");
        try (JdbcJobStore first = JdbcJobStore.sqlite(file);
                JdbcJobStore second = JdbcJobStore.sqlite(file)) {
            first.prepare();
            race(first, second);
        }
    }

    @Test
    void every_job_ends_once_on_postgresql() throws Exception {
        try (Postgres postgres = new Postgres();
                JdbcJobStore second = JdbcJobStore.postgresql(postgres.source())) {
            race(postgres.store(), second);
        }
    }

    @Test
    void every_job_ends_once_on_mariadb() throws Exception {
        try (MariaDb mariadb = new MariaDb();
                JdbcJobStore second = JdbcJobStore.open(mariadb.url())) {
            mariadb.empty();
            race(mariadb.store(), second);
        }
    }

    private void race(JdbcJobStore first, JdbcJobStore second) throws Exception {
        first.insert(Collections.nCopies(JOBS, JobSpec.builder("work", "1").build()));
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            int number = i;
            tasks.add(() -> work(number % 2 == 0 ? first : second, number));
        }
        tasks.add(() -> cancelSome(second));
        ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
        try {
            for (Future<Void> done : threads.invokeAll(tasks)) {
                done.get();
            }
        } finally {
            threads.shutdownNow();
        }
        first.maintain();
        QueueState queue = first.queues().get(0);
        assertThat(queue.count(JobState.SUCCEEDED) + queue.count(JobState.CANCELLED))
                .isEqualTo(JOBS);
        assertThat(successes)
                .hasSize((int) queue.count(JobState.SUCCEEDED))
                .allSatisfy(
                        (job, n) -> assertThat(n).as("successes of job " + job).isEqualTo(1));
    }

    private Void work(JdbcJobStore store, int number) {
        String worker = "worker-" + number;
        Random random = new Random(number);
        for (int idle = 0; idle < 2_000 && isOpen(store); idle++) {
            // Half of the leases are over as soon as they are given.
            Duration lease = random.nextBoolean() ? Duration.ZERO : Duration.ofMinutes(1);
            List<Claim> claims = new ArrayList<>(store.claim(
                    new ClaimRequest(worker, lease, 20, List.of(new ClaimRequest.Demand("default", 20)), 0.2, true)));
            store.takeOver(worker, Duration.ofMinutes(1), 5).stream()
                    .map(LostClaim::claim)
                    .forEach(claims::add);
            claims.forEach(claim -> settle(store, claim, random));
        }
        return null;
    }

    private static boolean isOpen(JdbcJobStore store) {
        return store.queues().stream()
                .anyMatch(queue -> queue.count(JobState.PENDING) + queue.count(JobState.RUNNING) > 0);
    }

    private void settle(JdbcJobStore store, Claim claim, Random random) {
        List<Settlement> settlements = new ArrayList<>();
        for (Job job : claim.jobs()) {
            boolean retry = random.nextInt(4) == 0;
            Settlement.Next next =
                    retry ? new Settlement.Wait(WaitReason.RETRY, Duration.ZERO, null) : new Settlement.Succeed(null);
            settlements.add(
                    new Settlement(job.id(), claim.token(), CountedAs.ATTEMPT, Duration.ofMillis(1), next, null, null));
        }
        var stale = store.settle(settlements, List.of(claim.token())).stale();
        for (Settlement settlement : settlements) {
            if (settlement.next() instanceof Settlement.Succeed && !stale.contains(settlement.job())) {
                successes.merge(settlement.job(), 1, Integer::sum);
            }
        }
    }

    private static Void cancelSome(JdbcJobStore store) {
        for (int id = 5; id <= JOBS; id += 50) {
            store.cancel(new JobId(id), new AuditNote("ada", null));
        }
        return null;
    }
}
