// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.MariaDbServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program as a process: started, used, stopped. */
class ServeTest {

    private static final String LISTENS = "Reprise listens on ";

    @TempDir
    Path directory;

    private Process start(String... more) throws IOException {
        return serve("sqlite:" + directory.resolve("jobs.db"), more);
    }

    private static Process serve(String store, String... more) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "serve",
                "--store-url",
                store,
                "--http-port",
                "0");
        builder.command().addAll(List.of(more));
        return builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void the_first_start_prints_a_key_once_and_listens_on_loopback() throws Exception {
        Process first = start("--http-host", "0.0.0.0");
        String key = null;
        String url = null;
        BufferedReader out = first.inputReader();
        for (String line = out.readLine(); url == null && line != null; line = out.readLine()) {
            if (line.strip().startsWith("rk_")) {
                key = line.strip();
            }
            if (line.startsWith(LISTENS)) {
                url = line.substring(LISTENS.length());
                break;
            }
        }
        try {
            assertThat(key).isNotNull();
            assertThat(url).startsWith("http://127.0.0.1:");
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create(url + "/v1/jobs"))
                                    .header("Authorization", "Bearer " + key)
                                    .header("Content-Type", "application/json")
                                    .POST(HttpRequest.BodyPublishers.ofString("{\"type\":\"a\"}"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
        } finally {
            first.destroy();
            assertThat(first.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
        Process second = start();
        try {
            String line = second.inputReader().readLine();
            assertThat(line).startsWith("Reprise listens on http://127.0.0.1:");
        } finally {
            second.destroy();
            assertThat(second.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void a_job_stored_in_mariadb_is_there_after_a_restart() throws Exception {
        String store = MariaDbServer.shared()
                .freshDatabaseUrl()
                .replaceFirst("jdbc:mariadb://(.*)\\?user=root", "mariadb://root@$1");
        Process first = serve(store);
        String key;
        String job;
        try {
            key = line(first, "rk_");
            HttpResponse<String> answer =
                    send(request(line(first, LISTENS).substring(LISTENS.length()), key, "/v1/jobs")
                            .POST(HttpRequest.BodyPublishers.ofString("{\"type\":\"a\"}")));
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
            job = answer.body().replaceFirst("(?s).*\"id\":\"([^\"]+)\".*", "$1");
        } finally {
            stop(first);
        }
        Process second = serve(store.replace("mariadb:", "mysql:"));
        try {
            HttpResponse<String> answer =
                    send(request(line(second, LISTENS).substring(LISTENS.length()), key, "/v1/jobs/" + job));
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(answer.body()).contains(job);
        } finally {
            stop(second);
        }
    }

    /** The first line to come that begins so; what does not come in time fails. */
    private static String line(Process server, String beginning) throws Exception {
        return CompletableFuture.supplyAsync(() -> server.inputReader()
                        .lines()
                        .map(String::strip)
                        .filter(line -> line.startsWith(beginning))
                        .findFirst()
                        .orElseThrow())
                .get(60, TimeUnit.SECONDS);
    }

    private static HttpRequest.Builder request(String url, String key, String path) {
        return HttpRequest.newBuilder(URI.create(url + path))
                .timeout(Duration.ofSeconds(60))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json");
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static void stop(Process server) throws InterruptedException {
        server.destroy();
        assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void settings_are_printed_or_refused_all_at_once() {
        Cli printed = Cli.run("serve", "--print-config", "--http-port", "9");
        assertThat(printed.code()).isZero();
        assertThat(printed.out()).contains("http.port=9   # command line").contains("store.url=sqlite:reprise.db");
        Cli refused = Cli.run("serve", "--http-port", "x", "--worker-lease", "soon");
        assertThat(refused.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(refused.err()).contains("http.port").contains("worker.lease");
        for (String url : List.of("oracle://a:secret@b/c", "mongodb://a:b/secret@c", "mongodb:secret")) {
            Cli unknown = Cli.run("serve", "--store-url", url);
            assertThat(unknown.code()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(unknown.err()).contains("store.url").doesNotContain("secret");
        }
    }
}
