// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.reprise.cli.Cli;
import io.reprise.cli.Main;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How commands find a queue, and what they say if they do not. */
class ConnectionTest {

    @TempDir
    Path directory;

    /** Where nobody listens, and nobody comes to listen meanwhile. */
    private static final String NOBODY = "http://127.0.0.1:1";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jobs list",
                "jobs show 1",
                "jobs enqueue a",
                "jobs retry 1",
                "jobs cancel 1",
                "jobs steps 1",
                "jobs log 1",
                "jobs tell 1 a 2",
                "jobs resolve 1 a again",
                "jobs forget 1",
                "jobs tail",
                "dead list",
                "dead groups",
                "dead replay 1",
                "dead replay --all",
                "dead discard 1",
                "dead discard --all --yes",
                "dead replays",
                "dead watch x",
                "dead cancel x",
                "queues",
                "queues pause a",
                "queues resume a",
                "queues limit a 1",
                "resources",
                "resources force-open a",
                "resources force-close a",
                "schedules",
                "schedules create a b --every 5m",
                "schedules pause a",
                "schedules trigger a",
                "schedules remove a",
                "keys",
                "keys create a --scope read",
                "keys rotate a",
                "keys revoke a",
                "stats"
            })
    void every_command_says_that_nobody_answers(String command) {
        Cli run = Cli.line(command + " --key reprise_a_b --server " + NOBODY);
        assertThat(run.code()).isEqualTo(ExitCode.INTERNAL);
        assertThat(run.err())
                .contains("No server answers at " + NOBODY)
                .contains("reprise serve")
                .contains("--store")
                .doesNotContain("internal error")
                .doesNotContain("reprise_a_b");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void a_key_that_is_missing_or_wrong_is_refused() {
        try (QueueFixture queue = new QueueFixture(directory)) {
            Cli missing = Cli.run("jobs", "list", "--server", queue.server.url());
            assertThat(missing.code()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(missing.err()).contains("--key").contains("REPRISE_SERVER_KEY");
            Cli wrong = Cli.run("jobs", "list", "--server", queue.server.url(), "--key", "reprise_aaaaaaaaaaaa_secret");
            assertThat(wrong.code()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(wrong.err()).contains("does not know this key").doesNotContain("secret");
            Cli odd = Cli.run("jobs", "list", "--server", queue.server.url(), "--key", "reprise_\u0001secret");
            assertThat(odd.code()).isEqualTo(ExitCode.BAD_INPUT);
            assertThat(odd.err()).doesNotContain("secret");
        }
    }

    @Test
    void what_is_no_server_and_what_is_no_store_is_refused() throws IOException {
        Cli scheme = Cli.run("jobs", "list", "--server", "ftp://a");
        assertThat(scheme.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(scheme.err()).contains("server.url");
        Cli both = Cli.run("jobs", "list", "--server", "http://a", "--store", "sqlite:a");
        assertThat(both.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(both.err()).contains("must not be given together");
        Path file = directory.resolve("mistyped.db");
        Cli typo = Cli.run("jobs", "list", "--store", "sqlite:" + file);
        assertThat(typo.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(typo.err()).contains("there is no file " + file);
        assertThat(file).doesNotExist();
        Cli unknown = Cli.run("jobs", "list", "--store", "oracle://u:secret@h/d");
        assertThat(unknown.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(unknown.err()).contains("store.url").doesNotContain("secret");
        Files.writeString(file, "this is not a database, but text that is long enough to look like a file");
        Cli garbage = Cli.run("jobs", "list", "--store", "sqlite:" + file);
        assertThat(garbage.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(garbage.err()).contains("Cannot use the store");
    }

    @Test
    void another_web_server_is_recognised() throws IOException {
        HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        other.createContext("/", exchange -> {
            byte[] page = "<html>hello</html>".getBytes(UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        other.start();
        try {
            Cli run = Cli.run(
                    "jobs",
                    "list",
                    "--server",
                    "http://127.0.0.1:" + other.getAddress().getPort());
            assertThat(run.code()).isEqualTo(ExitCode.INTERNAL);
            assertThat(run.err()).contains("is no Reprise server");
        } finally {
            other.stop(0);
        }
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void the_environment_and_a_file_say_where_the_queue_is() throws Exception {
        try (QueueFixture queue = new QueueFixture(directory)) {
            String overHttp = process(
                    Map.of("REPRISE_SERVER_URL", queue.server.url(), "REPRISE_SERVER_KEY", queue.key), "keys", "list");
            assertThat(overHttp).contains("admin");
            Path config = Files.writeString(directory.resolve("cli.properties"), "store.url=" + queue.storeUrl);
            Cli stored = Cli.run("keys", "list", "--config", config.toString());
            assertThat(stored.code()).as(stored.err()).isZero();
            assertThat(stored.out()).contains("admin");
        }
    }

    /** The program as a process of its own; what it prints. */
    private static String process(Map<String, String> environment, String... args) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName());
        builder.command().addAll(List.of(args));
        builder.environment().putAll(environment);
        Process process = builder.redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(out).isZero();
        return out;
    }

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void a_shell_completes_commands_and_options() throws Exception {
        Path script = Files.writeString(
                directory.resolve("completion"), Cli.run("completion", "bash").out());
        assertThat(complete(script, "reprise", "de")).contains("dead", "demo");
        assertThat(complete(script, "reprise", "dead", "re")).contains("replay", "replays");
        assertThat(complete(script, "reprise", "jobs", "list", "--st")).contains("--state", "--store");
        assertThat(Cli.run("completion", "zsh").code()).isZero();
        assertThat(Cli.run("completion", "tcsh").code()).isEqualTo(ExitCode.BAD_INPUT);
    }

    private static List<String> complete(Path script, String... words) throws Exception {
        String typed = "COMP_WORDS=(" + String.join(" ", words) + "); COMP_CWORD=" + (words.length - 1);
        Process bash = new ProcessBuilder(
                        "bash",
                        "-c",
                        "source " + script + "; " + typed + "; _complete_reprise; printf '%s\\n' \"${COMPREPLY[@]}\"")
                .start();
        String out = new String(bash.getInputStream().readAllBytes(), UTF_8);
        assertThat(bash.waitFor()).isZero();
        return out.lines().map(String::strip).toList();
    }
}
