// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.servers.PostgresServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.env.Environment;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The example over HTTP, with threads and PostgreSQL. */
// Closed before the database server of the test ends, or the shutdown would wait for it.
@DirtiesContext
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = "orders.provider.failures-of-ten=5")
class OrderServiceTest {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @Autowired
    Environment environment;

    @Autowired
    OrderRepository orders;

    private String call(String method, String path) throws Exception {
        URI uri = URI.create("http://localhost:" + environment.getProperty("local.server.port") + path);
        return CLIENT.send(
                        HttpRequest.newBuilder(uri)
                                .method(method, HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static void await(java.util.function.BooleanSupplier condition) {
        long end = System.nanoTime() + 60_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("the condition came true within a minute").isLessThan(end);
            LockSupport.parkNanos(5_000_000);
        }
    }

    @Test
    void orders_are_paid_though_every_second_call_fails() throws Exception {
        for (int i = 0; i < 10; i++) {
            assertThat(call("POST", "/orders?customer=ada&cents=" + (100 + i))).contains("PLACED");
        }
        await(() -> orders.countByStatus("PAID") == 10);
        assertThat(call("GET", "/actuator/health")).contains("\"reprise\"").contains("\"lagSeconds\"");
        assertThat(call("GET", "/actuator/info")).contains("\"reprise\"");
        assertThat(call("GET", "/actuator/reprise")).contains("payment-provider").contains("\"queues\"");
        assertThat(call("GET", "/actuator/metrics/reprise.succeeded")).contains("\"measurements\"");
    }

    @Test
    void a_declined_card_is_a_dead_letter_that_can_be_retried() throws Exception {
        call("POST", "/orders?customer=bob&cents=200000");
        await(() -> !dead().equals("[]"));
        String id = dead().replaceAll("^\\D*(\\d+).*$", "$1");
        call("POST", "/dead-letters/" + id + "/retry");
        await(() -> dead().contains("declined"));
    }

    private String dead() {
        try {
            return call("GET", "/dead-letters");
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry registry) {
        registry.add("spring.datasource.url", PostgresServer.shared()::freshDatabaseUrl);
    }
}
