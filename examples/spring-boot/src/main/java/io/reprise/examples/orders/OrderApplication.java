// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import io.reprise.retry.RetryPolicy;
import java.io.IOException;
import java.util.Arrays;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** An order service: each order is charged at an unreliable payment provider, by a job. */
@SpringBootApplication
public class OrderApplication {

    // snippet:policy
    /** A declined card stays declined. Everything else is retried as the properties say. */
    @Bean
    RetryPolicy cards() {
        return RetryPolicy.unset().onStatus(402).never().policy();
    }
    // end

    /** Starts the service. Without a URL of a database it starts a PostgreSQL of its own, which forgets at the end. */
    public static void main(String[] arguments) throws IOException {
        boolean given = System.getenv("SPRING_DATASOURCE_URL") != null
                || Arrays.stream(arguments).anyMatch(argument -> argument.startsWith("--spring.datasource.url="));
        if (!given) {
            LocalPostgres.start();
        }
        SpringApplication.run(OrderApplication.class, arguments);
    }
}
