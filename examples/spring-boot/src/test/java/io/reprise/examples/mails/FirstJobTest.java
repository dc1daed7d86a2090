// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.mails;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The first job of docs/spring-boot.md: it is there after a restart in the middle of its run. */
class FirstJobTest {

    private static final String JPA = "org.springframework.boot.hibernate";
    private static final String JPA_BEFORE = "org.springframework.boot.autoconfigure.orm.jpa";

    @TempDir
    Path folder;

    private ConfigurableApplicationContext start() {
        return new SpringApplicationBuilder(MailApplication.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.config.location=optional:classpath:/none/",
                        "--spring.datasource.url=jdbc:sqlite:" + folder.resolve("jobs.db"),
                        // The examples have JPA and MongoDB on their class path, which the first job does without.
                        "--spring.autoconfigure.exclude=" + JPA + ".autoconfigure.HibernateJpaAutoConfiguration,"
                                + JPA_BEFORE + ".HibernateJpaAutoConfiguration",
                        "--spring.data.jpa.repositories.enabled=false",
                        "--reprise.store.kind=jdbc",
                        "--reprise.worker.stop-grace=1ms");
    }

    @Test
    void a_job_that_a_stop_interrupted_begins_again_after_the_next_start() {
        try (ConfigurableApplicationContext first = start()) {
            assertThat(first.getBean(MailController.class).accept(new MailController.Email("ada@example.org")))
                    .isEqualTo("job 1\n");
            awaitRunning(first.getBean(Reprise.class));
        }
        try (ConfigurableApplicationContext second = start()) {
            awaitRunning(second.getBean(Reprise.class));
        }
    }

    private static void awaitRunning(Reprise reprise) {
        long end = System.nanoTime() + 60_000_000_000L;
        while (reprise.find(JobQuery.all().state(JobState.RUNNING)).items().isEmpty()) {
            assertThat(System.nanoTime()).isLessThan(end);
            LockSupport.parkNanos(5_000_000);
        }
    }
}
