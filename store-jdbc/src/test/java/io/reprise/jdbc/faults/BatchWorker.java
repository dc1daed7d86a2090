// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.jdbc.JdbcTransaction;
import io.reprise.retry.LossRule;
import io.reprise.retry.RetryPolicy;
import io.reprise.testkit.faults.Work;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/** Runs members of a batch, and the jobs for its end and its success, until it is killed. */
public final class BatchWorker {

    static final String BATCH = "import";

    /** A killed worker must not make a dead letter: many kills hit the same job. */
    private static final RetryPolicy PATIENT =
            RetryPolicy.fixed(Duration.ofMillis(10)).maxAttempts(1_000).losses(new LossRule(false, false, 1_000));

    static final JobType<String> PART = JobType.of("part", String.class).retry(PATIENT);
    static final JobType<String> SUCCESS = JobType.of("success", String.class).retry(PATIENT);
    static final JobType<String> END = JobType.of("end", String.class).retry(PATIENT);

    private BatchWorker() {}

    /** Works until the process ends. The argument is the URL of the database. */
    public static void main(String[] args) throws IOException {
        String url = args[0];
        Reprise.builder()
                .store(JdbcJobStore.open(url))
                .codec(new Work.TextCodec())
                .lease(Duration.ofSeconds(1))
                .poll(Duration.ofMillis(50))
                .handle(PART, (name, job) -> {})
                .handle(SUCCESS, (name, job) -> note(url, "success", job))
                .handle(END, (name, job) -> note(url, "end", job))
                .start();
        while (System.in.read() >= 0) {
            // Nobody writes; the end of the test ends this.
        }
        Runtime.getRuntime().halt(1);
    }

    /** Writes down, once with the outcome of the job, what it is for and how many members are open. */
    private static void note(String url, String what, JobContext job) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url)) {
            connection.setAutoCommit(false);
            try (PreparedStatement insert = connection.prepareStatement("""
                    insert into noted (what, open)
                    select ?, total - succeeded - dead - cancelled from reprise_batch where name = ?
                    """)) {
                insert.setString(1, what);
                insert.setString(2, BATCH);
                insert.executeUpdate();
            }
            job.complete(JdbcTransaction.of(connection));
            connection.commit();
        }
    }
}
