// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.reprise.server.http.Scope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The worker in Python that the documents show does what they say. Where there is no Python there is nothing to run. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class RemoteWorkerTest {

    private static final Path WORKER = Path.of("../examples/remote-worker/worker.py");

    private final TestServer server = new TestServer();

    @TempDir
    Path directory;

    @BeforeEach
    void requirePython() {
        assumeTrue(hasPython(), "python3 is not found");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void it_completes_jobs_and_reports_failures() throws Exception {
        String good = server.enqueue("{\"type\":\"resize\",\"payload\":{\"file\":\"a.png\"}}");
        String bad = server.enqueue("{\"type\":\"resize\",\"payload\":{\"fail\":true},\"maxRetries\":0}");
        Process worker = start("30", "2");
        assertThat(worker.waitFor(2, TimeUnit.MINUTES)).as(log()).isTrue();
        assertThat(worker.exitValue()).as(log()).isZero();
        assertThat(job(good).get("result").toString()).isEqualTo("{\"done\":true}");
        assertThat(job(bad).get("state").stringValue()).isEqualTo("FAILED");
        assertThat(job(bad).get("lastError").get("type").stringValue()).isEqualTo("ValueError");
    }

    @Test
    void it_keeps_a_job_that_takes_longer_than_its_lease() throws Exception {
        String slow = server.enqueue("{\"type\":\"resize\",\"payload\":{\"seconds\":7}}");
        Process worker = start("3", "1");
        assertThat(worker.waitFor(2, TimeUnit.MINUTES)).as(log()).isTrue();
        assertThat(job(slow).get("state").stringValue()).as(log()).isEqualTo("SUCCEEDED");
        assertThat(job(slow).get("attempts").intValue()).isEqualTo(1);
    }

    @Test
    void it_stops_a_job_that_was_cancelled() throws Exception {
        String id = server.enqueue("{\"type\":\"resize\",\"payload\":{\"seconds\":600}}");
        Process worker = start("3", "1");
        await(id, "RUNNING");
        server.post("/v1/jobs/" + id + "/cancel", "{}");
        assertThat(worker.waitFor(2, TimeUnit.MINUTES)).as(log()).isTrue();
        assertThat(job(id).get("state").stringValue()).isEqualTo("CANCELLED");
    }

    @Test
    void it_drops_a_job_whose_lease_is_gone() throws Exception {
        String id = server.enqueue("{\"type\":\"resize\",\"payload\":{\"seconds\":600}}");
        Process worker = start("3", "1");
        await(id, "RUNNING");
        signal(worker, "STOP");
        await(id, "PENDING");
        signal(worker, "CONT");
        assertThat(worker.waitFor(2, TimeUnit.MINUTES)).as(log()).isTrue();
        assertThat(log()).contains("too late, the lease is gone");
        assertThat(job(id).get("attempts").intValue()).isZero();
    }

    private Process start(String leaseSeconds, String jobs) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("python3", WORKER.toString(), "--count", jobs)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile());
        builder.environment().put("REPRISE_URL", "http://127.0.0.1:" + server.server.port());
        builder.environment().put("REPRISE_KEY", server.key("worker", null, Scope.WORK));
        builder.environment().put("REPRISE_LEASE", leaseSeconds);
        return builder.start();
    }

    private String log() throws IOException {
        return Files.readString(directory.resolve("log"), StandardCharsets.UTF_8);
    }

    private JsonNode job(String id) {
        return server.get("/v1/jobs/" + id).json();
    }

    private void await(String id, String state) {
        TestServer.await(() -> job(id).get("state").stringValue().equals(state) ? state : null);
    }

    private static void signal(Process process, String name) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    private static boolean hasPython() {
        try {
            return new ProcessBuilder("python3", "--version").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
