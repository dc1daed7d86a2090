// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.operations;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.examples.Example;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.Attempt;
import io.reprise.job.Attempt.Ending;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Closing lets handlers finish within a grace; the others are given back, and no attempt is spent. */
public final class GracefulShutdown {

    private static final JobType<String> RENDER = JobType.of("render", String.class);

    private GracefulShutdown() {}

    public static void main(String[] args) throws InterruptedException {
        Path file = Example.temporaryFile();
        CountDownLatch started = new CountDownLatch(1);
        Reprise old = Reprise.builder()
                .store(JdbcJobStore.sqlite(file))
                .name("old-version")
                .stopGrace(Duration.ofMillis(100))
                .handle(RENDER, (film, job) -> {
                    started.countDown();
                    Thread.sleep(60_000);
                })
                .start();
        JobId id = old.enqueue(RENDER.job("a long film"));
        started.await();
        old.close();
        Example.say("The old version has stopped while the job ran");

        try (Reprise reprise = Reprise.builder()
                .store(JdbcJobStore.sqlite(file))
                .name("new-version")
                .handle(RENDER, (film, job) -> Example.say("Rendered %s in attempt %d", film, job.attempt()))
                .start()) {
            Job job = reprise.await(id, Example.SOON).job();
            List<Attempt> history = reprise.attempts(id);
            history.forEach(run -> Example.say("Attempt %d on %s: %s", run.number(), run.worker(), run.ending()));
            Example.check(history.get(0).ending() == Ending.INTERRUPTED, "the first run was cut short");
            Example.check(job.counts().interruptions() == 1 && job.attempts() == 1, "and spent no attempt");
        }
    }
}
