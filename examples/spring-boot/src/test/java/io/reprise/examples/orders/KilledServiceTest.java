// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.testkit.Slow;
import io.reprise.testkit.servers.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Instances of the example in processes of their own: one is killed, one is stopped, and two others finish the work. */
@Slow
class KilledServiceTest {

    private static final int EACH = 3;
    private static final int ORDERS = 2 * EACH;

    private final List<Process> processes = new ArrayList<>();

    @TempDir
    Path folder;

    @Test
    void what_a_killed_and_a_stopped_instance_began_two_others_finish() throws Exception {
        String url = PostgresServer.shared().freshDatabaseUrl();
        try (ConfigurableApplicationContext shop = new SpringApplicationBuilder(OrderApplication.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.datasource.url=" + url,
                        "--reprise.worker.enabled=false",
                        "--reprise.types.charge.timeout=10m")) {
            Reprise reprise = shop.getBean(Reprise.class);
            Process killed = start(url, "killed", "--orders.provider.millis=300000");
            Process stopped =
                    start(url, "stopped", "--orders.provider.millis=300000", "--reprise.worker.stop-grace=100ms");
            for (int i = 0; i < ORDERS; i++) {
                shop.getBean(OrderService.class).place("ada", 100 + i);
            }
            await(() -> heldBy(reprise, "killed") == EACH && heldBy(reprise, "stopped") == EACH);
            killed.destroyForcibly().waitFor();
            stopped.destroy();
            assertThat(stopped.waitFor(60, TimeUnit.SECONDS))
                    .as("it stops by itself")
                    .isTrue();
            assertThat(heldBy(reprise, "stopped")).as("it gave its jobs back").isZero();
            assertThat(reprise.find(JobQuery.all()).items())
                    .hasSize(ORDERS)
                    .allMatch(job -> job.attempts() == 0, "has spent no attempt");
            start(url, "third", "--orders.provider.failures-of-ten=0");
            start(url, "fourth", "--orders.provider.failures-of-ten=0");
            OrderRepository orders = shop.getBean(OrderRepository.class);
            await(() -> orders.countByStatus("PAID") == ORDERS);
            assertThat(reprise.find(JobQuery.deadLetters()).items()).isEmpty();
        } finally {
            for (Process process : processes) {
                process.destroy();
                if (!process.waitFor(60, TimeUnit.SECONDS)) {
                    process.destroyForcibly().waitFor();
                }
            }
        }
    }

    private static long heldBy(Reprise reprise, String worker) {
        return reprise.find(JobQuery.all().state(JobState.RUNNING)).items().stream()
                .map(job -> job.status().holder())
                .filter(holder -> holder != null && holder.worker().equals(worker))
                .count();
    }

    private Process start(String url, String name, String... settings) throws IOException {
        Path log = folder.resolve("instance-" + processes.size() + ".log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                OrderApplication.class.getName(),
                "--spring.datasource.url=" + url,
                "--spring.main.web-application-type=none",
                "--spring.main.keep-alive=true",
                "--reprise.worker.name=" + name,
                "--reprise.worker.concurrency=" + EACH,
                "--reprise.worker.lease=2s"));
        command.addAll(List.of(settings));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        processes.add(process);
        return process;
    }

    private void await(BooleanSupplier condition) throws IOException {
        long end = System.nanoTime() + 120_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                StringBuilder logs = new StringBuilder();
                for (int i = 0; i < processes.size(); i++) {
                    logs.append(Files.readString(folder.resolve("instance-" + i + ".log")));
                }
                throw new AssertionError("the condition did not come true within two minutes:\n" + logs);
            }
            LockSupport.parkNanos(20_000_000);
        }
    }
}
