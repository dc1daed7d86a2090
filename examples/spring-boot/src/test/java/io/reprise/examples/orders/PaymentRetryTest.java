// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.Reprise;
import io.reprise.job.JobQuery;
import io.reprise.spring.test.AutoConfigureReprise;
import io.reprise.testing.InlineWorker;
import io.reprise.testkit.servers.PostgresServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The handlers of the example in virtual time. */
@DirtiesContext
// snippet:test
@SpringBootTest
@AutoConfigureReprise
class PaymentRetryTest {

    @Autowired
    InlineWorker worker;

    @Autowired
    OrderService orders;

    @Autowired
    OrderRepository repository;

    @Test
    void a_busy_provider_is_asked_again_until_the_order_is_paid() {
        CustomerOrder order = orders.place("ada", 1_000);
        worker.advance(Duration.ofMinutes(10));
        assertThat(repository.findById(order.getId()).orElseThrow().getStatus()).isEqualTo("PAID");
    }
    // end

    @Autowired
    Reprise reprise;

    @Test
    void a_declined_card_is_a_dead_letter_at_once() {
        CustomerOrder order = orders.place("bob", 200_000);
        worker.runDue();
        assertThat(repository.findById(order.getId()).orElseThrow().getStatus()).isEqualTo("PLACED");
        assertThat(reprise.find(JobQuery.deadLetters()).items())
                .singleElement()
                .matches(job -> job.attempts() == 1);
    }

    @Test
    void an_order_that_is_rolled_back_has_no_job() {
        int before = reprise.find(JobQuery.all()).items().size();
        long orderCount = repository.count();
        assertThatThrownBy(() -> orders.place("eve", 0)).isInstanceOf(IllegalArgumentException.class);
        assertThat(reprise.find(JobQuery.all()).items()).hasSize(before);
        assertThat(repository.count()).isEqualTo(orderCount);
    }

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry registry) {
        registry.add("spring.datasource.url", PostgresServer.shared()::freshDatabaseUrl);
    }
}
