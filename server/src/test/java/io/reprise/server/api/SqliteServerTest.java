// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.server.net.HttpSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The server on a file, as most will run it. */
class SqliteServerTest {

    @TempDir
    Path directory;

    private TestServer open() {
        JdbcJobStore store = JdbcJobStore.sqlite(directory.resolve("jobs.db"));
        store.prepare();
        return new TestServer(store, HttpSettings.Limits.DEFAULT, 1_000_000);
    }

    @Test
    void leases_outlive_the_server_that_gave_them() {
        String id;
        String token;
        try (TestServer first = open()) {
            id = first.enqueue("{\"type\":\"call\",\"tags\":[\"a\"],\"maxAttempts\":1}");
            token = first.lease("").get("token").stringValue();
        }
        try (TestServer second = open()) {
            assertThat(second.post("/v1/leases/" + token + "/heartbeat", "{}").status())
                    .isEqualTo(200);
            JsonNode failed = second.post("/v1/leases/" + token + "/fail", "{\"type\":\"Broken\"}")
                    .json();
            assertThat(failed.get("state").stringValue()).isEqualTo("FAILED");
            assertThat(second.get("/v1/dead-letters/groups")
                            .json()
                            .get("items")
                            .get(0)
                            .get("latest")
                            .get("id")
                            .stringValue())
                    .isEqualTo(id);
            assertThat(second.post("/v1/leases/" + token + "/complete", "{}").status())
                    .isEqualTo(409);
            assertThat(second.post("/v1/dead-letters/bulk", "{\"action\":\"replay\"}")
                            .json()
                            .get("done")
                            .intValue())
                    .isEqualTo(1);
        }
    }

    @Test
    void many_workers_share_the_jobs_and_none_is_run_twice() throws Exception {
        int jobs = 120;
        try (TestServer server = open()) {
            List<String> specs = new ArrayList<>();
            for (int i = 0; i < jobs; i++) {
                specs.add("{\"type\":\"t" + i % 3 + "\",\"queue\":\"q" + i % 2 + "\"}");
            }
            assertThat(server.post("/v1/jobs", specs.toString()).status()).isEqualTo(202);
            ExecutorService threads = Executors.newFixedThreadPool(6);
            try {
                List<Callable<List<String>>> workers = new ArrayList<>();
                for (int i = 0; i < 6; i++) {
                    int number = i;
                    workers.add(() -> work(server, number));
                }
                List<String> done = new ArrayList<>();
                for (Future<List<String>> worker : threads.invokeAll(workers)) {
                    done.addAll(worker.get());
                }
                assertThat(done).hasSize(jobs).doesNotHaveDuplicates();
            } finally {
                threads.shutdownNow();
            }
            assertThat(server.get("/v1/stats")
                            .json()
                            .get("counts")
                            .get("SUCCEEDED")
                            .intValue())
                    .isEqualTo(jobs);
        }
    }

    private static List<String> work(TestServer server, int number) {
        List<String> done = new ArrayList<>();
        while (true) {
            JsonNode leases = server.post(
                            "/v1/leases",
                            "{\"worker\":\"w" + number + "\",\"types\":[\"t" + number % 3 + "\"],\"max\":7}")
                    .json()
                    .get("items");
            if (leases.isEmpty()) {
                return done;
            }
            for (JsonNode lease : leases) {
                String token = lease.get("token").stringValue();
                if (server.post("/v1/leases/" + token + "/complete", "{}").status() == 200) {
                    done.add(lease.get("job").get("id").stringValue());
                }
            }
        }
    }
}
