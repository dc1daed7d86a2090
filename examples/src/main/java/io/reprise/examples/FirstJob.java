// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** A job that fails once and comes back. */
public final class FirstJob {

    private FirstJob() {}

    public static void main(String[] args) {
        Path file = Example.temporaryFile();
        // snippet:readme
        record Email(String to) {}
        JobType<Email> send = JobType.of("send-email", Email.class);

        try (Reprise reprise = Reprise.builder()
                .store(JdbcJobStore.sqlite(file))
                .retry(RetryPolicy.exponential(Duration.ofSeconds(1)))
                .handle(send, (email, job) -> {
                    if (job.attempt() == 1) throw new IOException("the mail server is busy");
                    System.out.println("Sent to " + email.to() + " in attempt " + job.attempt());
                })
                .start()) {
            JobId id = reprise.enqueue(send.job(new Email("ada@example.org")));
            System.out.println(reprise.await(id, Duration.ofMinutes(1)));
        }
        // end
        try (Reprise restarted =
                Reprise.builder().store(JdbcJobStore.sqlite(file)).start()) {
            Job job = restarted.find(JobQuery.all()).items().get(0);
            Example.check(job.state() == JobState.SUCCEEDED && job.attempts() == 2, "it is on record after a restart");
        }
    }
}
