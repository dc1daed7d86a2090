// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.reprise.server.http.AnswerCheck;
import io.reprise.server.http.Json;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The archive as it is shipped, made of the jars that this build has packaged. */
class ArchiveIT {

    private static final Path BUILT =
            Path.of(System.getProperty("reprise.jar")).toAbsolutePath().getParent();
    private static final Path SCRIPT =
            Path.of("..", "packaging", "build-archive").toAbsolutePath().normalize();
    private static final long MINUTES = 3;

    @TempDir
    static Path directory;

    private static Path archive;
    private static Path home;

    @BeforeAll
    static void unpack() throws Exception {
        assumeTrue(Files.exists(BUILT.resolve("sbom.cdx.json")), "Maven makes no bill of materials when it is offline");
        archive = build("first.tar.gz");
        Path unpacked = Files.createDirectory(directory.resolve("unpacked"));
        run(new ProcessBuilder("tar", "-xzf", archive.toString(), "-C", unpacked.toString()));
        try (Stream<Path> inside = Files.list(unpacked)) {
            home = inside.findFirst().orElseThrow();
        }
    }

    private static Path build(String name) throws Exception {
        Path result = directory.resolve(name);
        ProcessBuilder script =
                new ProcessBuilder(SCRIPT.toString(), "--from", BUILT.toString(), "--to", result.toString());
        script.environment().put("JAVA_HOME", System.getProperty("java.home"));
        run(script);
        return result;
    }

    private static void run(ProcessBuilder command) throws Exception {
        Path output = Files.createTempFile(directory, "output", ".txt");
        Process process = command.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(MINUTES, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(output)).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void the_same_jars_give_the_same_bytes() throws Exception {
        assertThat(Files.mismatch(archive, build("second.tar.gz"))).isEqualTo(-1);
    }

    /** Nothing but Java is on the path, and no variable is set. */
    @Test
    void it_serves_from_an_empty_directory_with_nothing_but_java() throws Exception {
        Path empty = Files.createDirectory(directory.resolve("empty"));
        Path path = Files.createDirectory(directory.resolve("path"));
        Files.createSymbolicLink(path.resolve("java"), Path.of(System.getProperty("java.home"), "bin", "java"));
        File output = directory.resolve("server.txt").toFile();
        ProcessBuilder command = new ProcessBuilder(home.resolve("bin/reprise").toString(), "serve", "--http-port", "0")
                .directory(empty.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output);
        command.environment().clear();
        command.environment().put("PATH", path.toString());
        Process server = command.start();
        try {
            String url = await(server, output, Pattern.compile("Reprise listens on (\\S+)"));
            String key = await(server, output, Pattern.compile("(reprise_[0-9a-f]{12}_[0-9a-f]{64})"));
            AnswerCheck document = new AnswerCheck(
                    Json.parse(send(url + "/openapi.json", key, null).body()));
            HttpResponse<String> enqueued = send(url + "/v1/jobs", key, "{\"type\":\"hello\"}");
            assertThat(enqueued.statusCode()).isEqualTo(202);
            document.check(enqueued);
            HttpResponse<String> job = send(url + "/v1/jobs/1", key, null);
            assertThat(job.body()).contains("hello");
            document.check(job);
            assertThat(empty.resolve("reprise.db")).exists();
        } finally {
            server.destroy();
            assertThat(server.waitFor(MINUTES, TimeUnit.MINUTES)).isTrue();
        }
        assertThat(server.exitValue()).as(Files.readString(output.toPath())).isIn(0, 143);
    }

    /** A server that went on with half of its threads would look alive and do nothing. */
    @Test
    void a_server_whose_memory_is_used_up_ends() throws Exception {
        Path output = directory.resolve("memory.txt");
        ProcessBuilder command = new ProcessBuilder(home.resolve("bin/reprise").toString(), "serve", "--http-port", "0")
                .directory(Files.createDirectory(directory.resolve("memory")).toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        command.environment().put("JAVA_HOME", System.getProperty("java.home"));
        // Enough for the JVM to start, and too little for the server.
        command.environment().put("REPRISE_JAVA_OPTS", "-Xmx8m");
        Process server = command.start();
        try {
            assertThat(server.waitFor(MINUTES, TimeUnit.MINUTES))
                    .as(Files.readString(output))
                    .isTrue();
        } finally {
            server.destroyForcibly();
        }
        assertThat(Files.readString(output)).contains("Terminating due to java.lang.OutOfMemoryError");
        assertThat(server.exitValue()).as(Files.readString(output)).isEqualTo(3);
    }

    /** Each way to start the server ends in a launcher that has the option, before options of a user. */
    @Test
    void every_launcher_ends_a_server_whose_memory_is_used_up() throws Exception {
        Path root = SCRIPT.getParent().getParent();
        for (Path launcher : List.of(home.resolve("bin/reprise"), root.resolve("reprise"))) {
            assertThat(Files.readAllLines(launcher))
                    .as(launcher.toString())
                    .filteredOn(line -> line.startsWith("exec ") && line.contains(" -jar "))
                    .isNotEmpty()
                    .allSatisfy(line -> assertThat(line).startsWith("exec \"$java\" -XX:+ExitOnOutOfMemoryError "));
        }
        assertThat(root.resolve("Containerfile")).content().contains("ENTRYPOINT [\"/opt/reprise/bin/reprise\"]");
        assertThat(home.resolve("systemd/reprise.service"))
                .content()
                .contains("ExecStart=/opt/reprise/bin/reprise serve", "Restart=on-failure");
    }

    private static String await(Process server, File output, Pattern wanted) throws IOException {
        long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
        while (System.nanoTime() - until < 0) {
            Matcher found = wanted.matcher(Files.readString(output.toPath()));
            if (found.find()) {
                return found.group(1);
            }
            assertThat(server.isAlive()).as(Files.readString(output.toPath())).isTrue();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
        throw new AssertionError(wanted + " did not come: " + Files.readString(output.toPath()));
    }

    private static HttpResponse<String> send(String url, String key, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json");
        if (body != null) {
            request.POST(HttpRequest.BodyPublishers.ofString(body));
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void what_belongs_to_it_is_in_it() {
        for (String file : List.of(
                "LICENSE",
                "README.md",
                "SECURITY.md",
                "etc/reprise.properties",
                "systemd/reprise.service",
                "app/SHA256SUMS")) {
            assertThat(home.resolve(file)).isNotEmptyFile();
        }
        assertThat(home.resolve("bin/reprise")).isExecutable();
        assertThat(home.resolve("THIRD-PARTY")).isNotEmptyDirectory();
    }

    /** By its digest: a jar of another version would not do. */
    @Test
    void the_bill_of_materials_names_each_library_that_is_shipped_with_its_licence() throws Exception {
        JsonNode bill =
                JsonMapper.shared().readTree(home.resolve("sbom.cdx.json").toFile());
        assertThat(bill.get("bomFormat").stringValue()).isEqualTo("CycloneDX");
        List<Path> libraries;
        try (Stream<Path> jars = Files.list(home.resolve("app/lib"))) {
            libraries = jars.filter(jar -> !jar.getFileName().toString().startsWith("reprise-"))
                    .sorted()
                    .toList();
        }
        assertThat(libraries).hasSizeGreaterThan(20);
        for (Path library : libraries) {
            JsonNode component = component(bill, sha256(library));
            assertThat(component).as(library.toString()).isNotNull();
            assertThat(component.path("licenses").isEmpty())
                    .as("no licence of " + library)
                    .isFalse();
        }
    }

    private static JsonNode component(JsonNode bill, String sha256) {
        return bill.get("components")
                .valueStream()
                .filter(component -> component
                        .path("hashes")
                        .valueStream()
                        .anyMatch(hash -> hash.get("content").stringValue().equals(sha256)))
                .findFirst()
                .orElse(null);
    }

    private static String sha256(Path file) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    }
}
