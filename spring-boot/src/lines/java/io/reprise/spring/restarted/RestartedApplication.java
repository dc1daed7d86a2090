// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.restarted;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.spring.RepriseJob;
import java.util.concurrent.CountDownLatch;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;

/** An application under Spring Boot's developer tools. Its first job is still running when the tools restart it. */
@SpringBootConfiguration
@EnableAutoConfiguration
public class RestartedApplication {

    /** The payload, which another class loader has loaded after the restart. */
    public record Note(String text) {}

    /** The handler. */
    public static class Handlers {
        /** Waits until it is interrupted; after the restart it returns. */
        @RepriseJob("note")
        public void note(Note note) throws InterruptedException {
            System.out.println("began " + note.text() + " by " + System.identityHashCode(Note.class));
            if (System.setProperty("began", "true") == null) {
                new CountDownLatch(1).await();
            }
            System.out.println("ended " + note.text() + " by " + System.identityHashCode(Note.class));
        }
    }

    @Bean
    Handlers handlers() {
        return new Handlers();
    }

    /** Only the first start enqueues. */
    @Bean
    ApplicationRunner enqueue(Reprise reprise) {
        return arguments -> {
            if (System.getProperty("began") == null) {
                reprise.enqueue(JobType.of("note", Note.class).job(new Note("hello")));
            }
        };
    }

    /** Starts it. */
    public static void main(String[] arguments) {
        SpringApplication.run(RestartedApplication.class, arguments);
    }
}
