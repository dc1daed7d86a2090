// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.JobContext;
import io.reprise.JobType;
import io.reprise.Reprise;
import java.time.Duration;
import org.springframework.aot.AotDetector;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.annotation.Transactional;

/** An application that is processed ahead of time. It runs one job and says how that ended. */
@SpringBootConfiguration
@EnableAutoConfiguration
public class AotApplication {

    /** The payload. */
    public record Greeting(String name) {}

    /** The result. */
    public record Answer(String text) {}

    /** Handlers behind a proxy that is made ahead of time too. */
    @Transactional
    public static class Handlers {
        /** Handles greetings. */
        @RepriseJob(value = "greet", transactional = true, retry = "one-shot")
        public Answer greet(Greeting greeting, JobContext job) {
            return new Answer("hello " + greeting.name());
        }

        /** Has a schedule. */
        @RepriseSchedule(name = "yearly", cron = "0 0 1 1 *")
        public void yearly() {}
    }

    @Bean
    Handlers handlers() {
        return new Handlers();
    }

    /** Starts, runs a job, and ends. */
    public static void main(String[] arguments) {
        try (ConfigurableApplicationContext context = SpringApplication.run(AotApplication.class, arguments)) {
            Reprise reprise = context.getBean(Reprise.class);
            Answer answer = reprise.await(
                            reprise.enqueue(JobType.of("greet", Greeting.class).job(new Greeting("ada"))),
                            Duration.ofMinutes(1))
                    .result(Answer.class);
            System.out.println("generated=" + AotDetector.useGeneratedArtifacts() + " schedule="
                    + reprise.findSchedule("yearly").isPresent() + " " + answer.text());
        }
    }
}
