// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import io.reprise.cli.Main;
import io.reprise.mongodb.MongoJobStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The program as a process, with its jobs in MongoDB. */
class ServeOnMongoTest {

    private static Process start(String storeUrl) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "serve",
                        "--store-url",
                        storeUrl,
                        "--store-dead-letters",
                        "tasks_dlq",
                        "--http-port",
                        "0")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void jobs_that_came_over_http_are_in_the_database_that_the_url_names() throws Exception {
        MongoServer mongo = new MongoServer(new MemoryBackend());
        Process process = null;
        try {
            String where = mongo.bindAndGetConnectionString() + "/queue";
            process = start(where);
            BufferedReader out = process.inputReader();
            String key = "";
            String url = "";
            for (String line = out.readLine(); url.isEmpty() && line != null; line = out.readLine()) {
                if (line.strip().startsWith("reprise_")) {
                    key = line.strip();
                } else if (line.startsWith("Reprise listens on ")) {
                    url = line.substring("Reprise listens on ".length());
                    break;
                }
            }
            HttpResponse<String> answer = post(url + "/v1/jobs", key, "{\"type\":\"a\"}");
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
            HttpResponse<String> leased =
                    post(url + "/v1/leases", key, "{\"worker\":\"w\",\"types\":[\"a\"],\"wait\":\"30s\"}");
            assertThat(leased.body()).as("%s", leased.statusCode()).contains("\"a\"");
            try (MongoJobStore other =
                    MongoJobStore.builder().deadLettersIn("elsewhere").open(where)) {
                assertThatThrownBy(other::prepare)
                        .as("the database remembers where the server has its dead letters")
                        .hasMessageContaining("tasks_dlq");
            }
        } finally {
            if (process != null) {
                process.destroy();
                assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
            }
            mongo.shutdownNow();
        }
    }

    private static HttpResponse<String> post(String url, String key, String body)
            throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(url))
                                .timeout(Duration.ofMinutes(3))
                                .header("Authorization", "Bearer " + key)
                                .header("Content-Type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }
}
