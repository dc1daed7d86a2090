// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.reprise.cli.Cli;
import io.reprise.cli.Main;
import io.reprise.server.KeyStores;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program as a process: started, used, stopped. */
class ServeTest {

    @TempDir
    Path directory;

    private Process start(String... more) throws IOException {
        return startOn("sqlite:" + directory.resolve("jobs.db"), more);
    }

    private static Process startOn(String store, String... more) throws IOException {
        return command(store, more).start();
    }

    private static ProcessBuilder command(String store, String... more) {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "serve",
                "--store",
                store,
                "--http-port",
                "0");
        builder.command().addAll(List.of(more));
        return builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void the_first_start_prints_a_key_once_and_listens_on_loopback() throws Exception {
        Process first = start("--http-host", "0.0.0.0");
        try {
            Started started = await(first);
            assertThat(started.url).startsWith("http://127.0.0.1:");
            HttpResponse<String> answer = enqueue(HttpClient.newHttpClient(), started);
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
        } finally {
            stop(first);
        }
        Process second = start();
        try {
            String line = second.inputReader().readLine();
            assertThat(line).startsWith("Reprise listens on http://127.0.0.1:");
        } finally {
            stop(second);
        }
    }

    /** A key in the output would be in the log of a container. */
    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void an_admin_key_from_a_file_is_used_and_not_printed() throws Exception {
        String key = "reprise_" + "0a".repeat(6) + "_" + "1b".repeat(32);
        ProcessBuilder command = command("sqlite:" + directory.resolve("jobs.db"), "--http-host", "127.0.0.2");
        Path file = Files.writeString(directory.resolve("admin-key"), key + "\n");
        command.environment().put("REPRISE_ADMIN_KEY_FILE", file.toString());
        Process process = command.start();
        try {
            String line = process.inputReader().readLine();
            assertThat(line).as("and no key before").startsWith("Reprise listens on http://127.0.0.2:");
            Started started = new Started(line.substring("Reprise listens on ".length()), key);
            HttpResponse<String> answer = enqueue(HttpClient.newHttpClient(), started);
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
        } finally {
            stop(process);
        }
    }

    @Test
    void a_port_in_use_leaves_no_key_behind(@TempDir Path place) throws Exception {
        String store = "sqlite:" + place.resolve("keys.db");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Cli refused = Cli.run("serve", "--store", store, "--http-port", Integer.toString(taken.getLocalPort()));
            assertThat(refused.code()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(refused.out()).doesNotContain("admin key");
        }
        Cli keys = Cli.run("keys", "list", "--store", store, "--json");
        assertThat(keys.out()).contains("\"items\":[]");
    }

    @Test
    void keys_that_cross_the_network_in_the_clear_are_warned_of() throws Exception {
        Path keys = KeyStores.make(directory, "ip:127.0.0.1");
        // The port is in use, so that the start ends after the warning.
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String[] start = {
                "serve",
                "--store",
                "sqlite:" + directory.resolve("jobs.db"),
                "--admin-key",
                "reprise_" + "0a".repeat(6) + "_" + "1b".repeat(32),
                "--http-host",
                "0.0.0.0",
                "--http-port",
                Integer.toString(taken.getLocalPort())
            };
            Cli plain = Cli.run(start);
            assertThat(plain.code()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(plain.err()).contains("WARNING: 0.0.0.0", "there is no TLS", "in the clear");
            Cli safe = Cli.run(Stream.concat(
                            Stream.of(start),
                            Stream.of("--tls-key-store", keys.toString(), "--tls-password", KeyStores.PASSWORD))
                    .toArray(String[]::new));
            assertThat(safe.code()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(safe.err()).doesNotContain("there is no TLS");
        }
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void a_schema_that_is_missing_is_made_only_if_that_is_wanted() {
        String store = "sqlite:" + directory.resolve("empty.db");
        for (String how : List.of("check", "false")) {
            Cli refused = Cli.run("serve", "--store", store, "--store-migrate", how, "--http-port", "0");
            assertThat(refused.code()).as(refused.err()).isNotZero();
            assertThat(refused.out()).doesNotContain("admin key", "listens");
        }
        Cli look = Cli.run("jobs", "list", "--store", store);
        assertThat(look.code()).as("it is still missing").isNotZero();
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void of_several_hosts_the_one_that_is_the_primary_is_used() throws Exception {
        int port = PostgresServer.shared().port();
        // Nothing listens on the first.
        String url = PostgresServer.shared()
                .freshDatabaseUrl()
                .replace(
                        "jdbc:postgresql://127.0.0.1:" + port,
                        "postgresql://postgres:hidden@127.0.0.1:1,127.0.0.1:" + port)
                .replace("?user=postgres", "?targetServerType=primary");
        assertThat(Cli.run("serve", "--print-config", "--store-url", url).out())
                .contains("127.0.0.1:1,127.0.0.1:" + port)
                .doesNotContain("hidden");
        Process server = startOn(url);
        try {
            await(server);
            Cli queues = Cli.run("queues", "list", "--store", url, "--json");
            assertThat(queues.code()).as(queues.err()).isZero();
        } finally {
            stop(server);
        }
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void with_a_key_store_it_speaks_https_only() throws Exception {
        Path keys = KeyStores.make(directory, "ip:127.0.0.1");
        Process process = start("--tls-key-store", keys.toString(), "--tls-password", KeyStores.PASSWORD);
        try {
            Started started = await(process);
            assertThat(started.url).startsWith("https://127.0.0.1:");
            HttpClient trusting =
                    HttpClient.newBuilder().sslContext(trust(keys)).build();
            assertThat(enqueue(trusting, started).statusCode()).isEqualTo(202);
            HttpClient distrusting = HttpClient.newHttpClient();
            assertThatExceptionOfType(SSLHandshakeException.class).isThrownBy(() -> enqueue(distrusting, started));
            Started plain = new Started(started.url.replace("https", "http"), started.key);
            assertThatExceptionOfType(IOException.class).isThrownBy(() -> enqueue(distrusting, plain));
        } finally {
            stop(process);
        }
    }

    /** Where it listens, and the key it has printed. */
    private record Started(String url, String key) {}

    private static Started await(Process process) throws IOException {
        String key = "";
        BufferedReader out = process.inputReader();
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            if (line.strip().startsWith("reprise_")) {
                key = line.strip();
            }
            if (line.startsWith("Reprise listens on ")) {
                assertThat(key).isNotEmpty();
                return new Started(line.substring("Reprise listens on ".length()), key);
            }
        }
        throw new AssertionError("it did not start");
    }

    private static HttpResponse<String> enqueue(HttpClient client, Started server) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create(server.url + "/v1/jobs"))
                        .timeout(Duration.ofMinutes(3))
                        .header("Authorization", "Bearer " + server.key)
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString("{\"type\":\"a\"}"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static SSLContext trust(Path file) throws Exception {
        KeyStore keys = KeyStore.getInstance(file.toFile(), KeyStores.PASSWORD.toCharArray());
        // A key's own certificate is no anchor of trust until it is put in as one.
        KeyStore anchors = KeyStore.getInstance("PKCS12");
        anchors.load(null, null);
        anchors.setCertificateEntry("server", keys.getCertificate("key"));
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(anchors);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    private static void stop(Process process) throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(3, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void a_job_stored_in_mariadb_is_there_after_a_restart() throws Exception {
        String store = MariaDbServer.shared()
                .freshDatabaseUrl()
                .replaceFirst("jdbc:mariadb://(.*)\\?user=root", "mariadb://root@$1");
        String key;
        String job;
        Process first = startOn(store);
        try {
            Started started = await(first);
            key = started.key;
            HttpResponse<String> answer = enqueue(HttpClient.newHttpClient(), started);
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
            job = answer.body().replaceFirst("(?s).*\"id\":\"([^\"]+)\".*", "$1");
        } finally {
            stop(first);
        }
        Process second = startOn(store.replace("mariadb:", "mysql:"));
        try {
            String url = second.inputReader().readLine().substring("Reprise listens on ".length());
            HttpResponse<String> answer = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create(url + "/v1/jobs/" + job))
                                    .timeout(Duration.ofMinutes(3))
                                    .header("Authorization", "Bearer " + key)
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(answer.body()).contains("\"" + job + "\"");
        } finally {
            stop(second);
        }
    }

    @Test
    void settings_are_printed_or_refused_all_at_once() {
        Cli printed = Cli.run("serve", "--print-config", "--http-port", "9");
        assertThat(printed.code()).isZero();
        assertThat(printed.out()).contains("http.port=9   # command line").contains("store.url=sqlite:reprise.db");
        Cli refused = Cli.run(
                "serve",
                "--http-port=x",
                "--worker-lease=soon",
                "--store=oracle://db/jobs",
                "--delivery-allow=10.0.0.0/99",
                "--delivery-secret=hidden",
                "--encryption-keys=hidden",
                "--tls-key-store=none.p12",
                "--tls-password=hidden");
        assertThat(refused.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(refused.err())
                .contains("7 settings are wrong:")
                .contains("http.port (command line): must be a number from 0 to 65535, not 'x'")
                .contains("worker.lease (command line): ")
                .contains("store.url (command line): must begin with sqlite:, postgresql://, ")
                .contains("delivery.allow (command line): '10.0.0.0/99' is not a range")
                .contains("delivery.secret (command line): ")
                .contains("encryption.keys (command line): encryption key '?' is not of the form id:base64")
                .contains("tls.key-store (command line): names a file that cannot be read: none.p12")
                .doesNotContain("hidden");
        for (String url : List.of("oracle://a:secret@b/c", "mongodb://a:b/secret@c", "mongodb:secret")) {
            Cli unknown = Cli.run("serve", "--store-url", url);
            assertThat(unknown.code()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(unknown.err()).contains("store.url").doesNotContain("secret");
        }
    }
}
