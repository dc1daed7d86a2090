// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobSpec;
import io.reprise.server.http.Response;
import io.reprise.store.JobStore;
import io.reprise.testkit.servers.PostgresServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Who waits for work at one server hears of what another stored, and looks for nothing by the clock. */
class WokenByTheStoreTest {

    private static final Duration NEVER = Duration.ofHours(1);

    @Test
    void a_job_that_another_server_stored_is_heard_of() throws Exception {
        String url = PostgresServer.shared().freshDatabaseUrl();
        ScheduledExecutorService threads = Executors.newScheduledThreadPool(1);
        try (JobStore here = JdbcJobStore.open(url);
                JobStore there = JdbcJobStore.open(url)) {
            here.prepare();
            WaitingLines lines = new WaitingLines(threads, new FairQueue(threads), NEVER);
            here.onWake(lines::wake);
            CompletableFuture<Response> answer = lines.wait(
                    "anybody",
                    "work",
                    NEVER,
                    last -> here.liveQueues().isEmpty() && !last ? null : Response.ok(Map.of()),
                    () -> false);
            there.insert(List.of(JobSpec.builder("work", "{}").build()));
            assertThat(answer.get(2, TimeUnit.MINUTES)).isNotNull();
        } finally {
            threads.shutdownNow();
        }
    }
}
