// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.video;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.examples.video.VideoClient.Reply;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.retry.Presets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The service over a real socket: what Conduit documents, happens. */
@Timeout(600)
class VideoGenerationTest {

    @TempDir
    Path directory;

    private VideoService start(Map<String, String> more) throws IOException {
        Map<String, String> environment = new HashMap<>(Map.of(
                "VideoGeneration__BaseDelaySeconds",
                "1",
                "FakeProvider__flaky",
                "timeout,rate-limit,ok",
                "FakeProvider__down",
                "unavailable",
                "FakeProvider__strict",
                "validation",
                "FakeProvider__locked",
                "authentication"));
        environment.putAll(more);
        return VideoService.start(
                VideoSettings.read(environment),
                FakeProvider.of(environment),
                JdbcJobStore.sqlite(directory.resolve("tasks.db")),
                0);
    }

    @Test
    void a_task_that_fails_is_retried_and_every_step_is_told() throws Exception {
        try (VideoService service = start(Map.of());
                Receiver receiver = new Receiver(data -> {})) {
            VideoClient ada = new VideoClient(service.url(), service.virtualKey("ada", "ada"));
            assertThat(ada.subscribe(receiver.url()).status()).isEqualTo(201);
            String flaky = ada.generate("flaky", "a cat");
            Reply done = ada.await(flaky);
            assertThat(done.text("status")).isEqualTo("completed");
            assertThat(done.body().path("retryCount").intValue()).isEqualTo(2);
            assertThat(done.body().path("maxRetries").intValue()).isEqualTo(3);
            assertThat(done.text("result")).startsWith("https://").endsWith(".mp4");

            List<JsonNode> told = receiver.of(flaky);
            assertThat(told).extracting(Receiver::status).containsExactly("retrying", "retrying", "completed");
            assertThat(told)
                    .allSatisfy(each ->
                            assertThat(each.path("taskId").stringValue()).isEqualTo(flaky));
            assertThat(told.get(0).path("error").stringValue()).isEqualTo("Connection timeout");
            assertThat(told)
                    .extracting(each -> each.path("isRetryable").booleanValue())
                    .containsExactly(true, true, false);
            assertThat(told.get(1).path("error").stringValue()).isEqualTo("Too many requests");
            assertThat(told)
                    .extracting(each -> each.path("retryCount").intValue())
                    .containsExactly(1, 2, 2);
            assertThat(told)
                    .allSatisfy(each ->
                            assertThat(each.path("maxRetries").intValue()).isEqualTo(3));
            JsonNode history = ada.send("GET", "/v1/jobs/" + flaky.replace("task_", ""), null)
                    .body()
                    .path("history");
            for (int retry = 0; retry < 2; retry++) {
                JsonNode decided = history.get(retry);
                Instant announced =
                        Instant.parse(told.get(retry).path("nextRetryAt").stringValue());
                Instant ended = Instant.parse(decided.path("endedAt").stringValue());
                String delay = decided.path("decision").path("delay").stringValue();
                assertThat(Duration.between(ended, announced))
                        .as("what was announced is what was decided")
                        .isEqualTo(Duration.parse("PT" + delay));
            }
        }
    }

    @Test
    void its_metrics_tell_successes_by_attempt_and_failures_by_provider() throws Exception {
        try (VideoService service = start(Map.of())) {
            VideoClient operator = new VideoClient(service.url(), service.virtualKey("operator", null));
            operator.await(operator.generate("flaky", "a cat"));
            operator.await(operator.generate("strict", "a bird"));
            assertThat(operator.metrics())
                    .anyMatch(line -> line.startsWith("reprise_succeeded_total{attempt=\"3\",")
                            && line.contains("resource=\"flaky\""))
                    .anyMatch(line -> line.startsWith("reprise_failed_total")
                            && line.contains("resource=\"strict\"")
                            && line.contains("reason=\"PERMANENT\""))
                    .anyMatch(line -> line.startsWith("retries_total") && line.contains("resource=\"flaky\""))
                    .anyMatch(line -> line.startsWith("reprise_recovery_seconds_sum"));
        }
    }

    @Test
    void retries_end_and_only_what_may_succeed_is_retried() throws Exception {
        try (VideoService service = start(Map.of("VideoGeneration__MaxRetries", "1"));
                Receiver receiver = new Receiver(data -> {})) {
            VideoClient ada = new VideoClient(service.url(), service.virtualKey("ada", "ada"));
            ada.subscribe(receiver.url());
            String down = ada.generate("down", "a dog");
            String strict = ada.generate("strict", "a bird");
            String locked = ada.generate("locked", "a fish");
            Reply spent = ada.await(down);
            assertThat(service.resourceOf(down))
                    .as("the provider is the resource")
                    .isEqualTo("down");
            assertThat(spent.text("status")).isEqualTo("failed");
            assertThat(spent.body().path("retryCount").intValue()).isEqualTo(1);
            assertThat(spent.body().path("isRetryable").booleanValue()).isFalse();
            assertThat(spent.body().path("nextRetryAt").isNull()).isTrue();
            assertThat(receiver.of(down)).extracting(Receiver::status).containsExactly("retrying", "failed");
            for (String task : List.of(strict, locked)) {
                Reply failed = ada.await(task);
                assertThat(failed.text("status")).isEqualTo("failed");
                assertThat(failed.body().path("retryCount").intValue()).isZero();
            }
            assertThat(ada.retry(down).text("title")).isEqualTo("Max Retries Exceeded");
            assertThat(ada.retry(strict).text("title")).isEqualTo("Task Not Retryable");
            String fine = ada.generate("fine", "a tree");
            ada.await(fine);
            Reply late = ada.retry(fine);
            assertThat(late.status()).isEqualTo(400);
            assertThat(late.text("title")).isEqualTo("Invalid Task State");
            assertThat(ada.cancel(fine).status()).isEqualTo(409);
        }
    }

    @Test
    void a_failed_task_that_has_retries_left_is_retried_by_hand_at_once() throws Exception {
        Map<String, String> off = Map.of("VideoGeneration__EnableRetries", "false");
        try (VideoService service = start(off)) {
            VideoClient ada = new VideoClient(service.url(), service.virtualKey("ada", null));
            String task = ada.generate("flaky", "a cat");
            Reply failed = ada.await(task);
            assertThat(failed.text("status")).isEqualTo("failed");
            assertThat(failed.body().path("isRetryable").booleanValue()).isTrue();
            Reply retried = ada.retry(task);
            assertThat(retried.status()).isEqualTo(200);
            assertThat(retried.body().toString())
                    .isEqualTo(
                            "{\"taskId\":\"" + task + "\",\"status\":\"pending\",\"error\":\"Retry 1/3 scheduled\"}");
            ada.await(task);
            assertThat(ada.retry(task).text("error")).isEqualTo("Retry 2/3 scheduled");
            assertThat(ada.await(task).text("status")).isEqualTo("completed");
        }
    }

    @Test
    void a_waiting_task_says_when_it_comes_back_and_can_be_cancelled() throws Exception {
        try (VideoService service = start(Map.of("VideoGeneration__BaseDelaySeconds", "60"))) {
            VideoClient ada = new VideoClient(service.url(), service.virtualKey("ada", "ada"));
            VideoClient bob = new VideoClient(service.url(), service.virtualKey("bob", "bob"));
            String task = ada.generate("down", "a dog");
            Reply waiting = ada.task(task);
            while (waiting.body().path("nextRetryAt").isNull()) {
                waiting = ada.task(task);
            }
            assertThat(waiting.text("status")).isEqualTo("pending");
            assertThat(waiting.body().path("retryCount").intValue()).isEqualTo(1);
            assertThat(waiting.text("error")).isEqualTo("Retry 1/3 scheduled: Service unavailable");
            assertThat(ada.retry(task).text("title")).isEqualTo("Invalid Task State");
            assertThat(bob.task(task).status()).isEqualTo(404);
            assertThat(bob.retry(task).status()).isEqualTo(404);
            assertThat(bob.cancel(task).status()).isEqualTo(404);
            assertThat(ada.task("task_x").status()).isEqualTo(404);
            assertThat(new VideoClient(service.url(), "reprise_a_b").task(task).status())
                    .isEqualTo(401);
            assertThat(ada.cancel(task).status()).isEqualTo(204);
            assertThat(ada.task(task).text("status")).isEqualTo("cancelled");
        }
    }

    @Test
    void a_service_that_is_started_again_knows_its_tasks_and_its_customers() throws Exception {
        String key;
        String task;
        try (VideoService service = start(Map.of("VideoGeneration__BaseDelaySeconds", "2"))) {
            key = service.virtualKey("ada", "ada");
            VideoClient ada = new VideoClient(service.url(), key);
            task = ada.generate("flaky", "a cat");
            assertThat(ada.waiting(task).body().path("retryCount").intValue()).isEqualTo(1);
        }
        try (VideoService service = start(Map.of())) {
            Reply done = new VideoClient(service.url(), key).await(task);
            assertThat(done.text("status")).isEqualTo("completed");
            assertThat(done.body().path("retryCount").intValue()).isEqualTo(2);
        }
    }

    @Test
    void a_service_keeps_its_tasks_in_a_file_that_it_finds_again() {
        assertThat(VideoGeneration.kept(new String[] {"--serve"})).isEqualTo(Path.of("videos.db"));
        assertThat(VideoGeneration.kept(new String[] {"--serve", "of/mine.db"})).isEqualTo(Path.of("of/mine.db"));
        assertThatThrownBy(() -> VideoGeneration.kept(new String[] {"--server"}))
                .hasMessage("usage: video-generation [--serve [FILE]], not --server");
    }

    @Test
    void the_environment_is_read_under_the_documented_names() {
        VideoSettings set = VideoSettings.read(Map.of(
                "VideoGeneration__MaxRetries", "5",
                "VideoGeneration__BaseDelaySeconds", "60",
                "VideoGeneration__MaxDelaySeconds", "1800",
                "VideoGeneration__EnableRetries", "true",
                "VideoGeneration__RetryCheckIntervalSeconds", "30"));
        assertThat(set)
                .isEqualTo(new VideoSettings(
                        5, Duration.ofMinutes(1), Duration.ofMinutes(30), true, Duration.ofSeconds(30)));
        assertThat(set.policy().toJson())
                .isEqualTo(Presets.get("conduit")
                        .base(Duration.ofMinutes(1))
                        .cap(Duration.ofMinutes(30))
                        .maxRetries(5)
                        .toJson());
        assertThat(VideoSettings.read(Map.of()).policy().toJson())
                .isEqualTo(Presets.get("conduit").toJson());
        assertThatThrownBy(() -> VideoSettings.read(Map.of(
                        "VideoGeneration__MaxRetries", "-1",
                        "VideoGeneration__EnableRetries", "maybe",
                        "VideoGeneration__Colour", "red")))
                .hasMessageContaining("MaxRetries must be")
                .hasMessageContaining("EnableRetries must be")
                .hasMessageContaining("Colour is not a setting");
    }

    @Test
    void the_scene_is_played_to_its_end() throws Exception {
        PrintStream before = System.out;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        try {
            VideoGeneration.main(new String[0]);
        } finally {
            System.setOut(before);
        }
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("\"status\":\"retrying\"")
                .contains("\"status\":\"completed\"")
                .contains("Max Retries Exceeded")
                .contains("Task Not Retryable")
                .contains("\"status\":404");
    }
}
