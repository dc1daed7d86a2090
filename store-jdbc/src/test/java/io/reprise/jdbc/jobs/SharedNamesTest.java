// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.Job;
import io.reprise.job.JobSpec;
import io.reprise.testkit.fixture.TestClaims;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs that are read together share the names of their queue and type, which are compared many times for each job. */
class SharedNamesTest {

    @TempDir
    Path directory;

    private static JobSpec job(String type) {
        return JobSpec.builder(type, "1").queue("mail").build();
    }

    @Test
    void claimed_jobs_of_one_queue_and_type_share_their_names() {
        try (JdbcJobStore store = JdbcJobStore.sqlite(directory.resolve("jobs.db"))) {
            store.prepare();
            store.insert(Stream.of("send", "send", "draw", "send")
                    .map(SharedNamesTest::job)
                    .toList());
            List<Job> jobs = store.claim(TestClaims.upTo(10).from("mail").build()).stream()
                    .flatMap(claim -> claim.jobs().stream())
                    .toList();
            assertThat(jobs)
                    .hasSize(4)
                    .allSatisfy(
                            job -> assertThat(job.queue()).isSameAs(jobs.get(0).queue()));
            assertThat(jobs.stream().collect(Collectors.groupingBy(Job::type, Collectors.counting())))
                    .containsEntry("send", 3L)
                    .containsEntry("draw", 1L);
            assertThat(jobs.get(1).type()).isSameAs(jobs.get(0).type());
        }
    }
}
