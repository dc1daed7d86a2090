// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.video;

import io.reprise.jdbc.JdbcJobStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import tools.jackson.databind.JsonNode;

/**
 * Conduit's video tasks on Reprise. Without arguments it plays a scene: a service, two customers and a provider that fails, with
 * delays of a second. With {@code --serve} it runs the service until Ctrl-C, as the environment says, and keeps its tasks.
 */
public final class VideoGeneration {

    private static final String SERVE = "--serve";
    private static final String KEPT = "videos.db";

    private VideoGeneration() {}

    public static void main(String[] args) throws Exception {
        Map<String, String> environment = new HashMap<>(System.getenv());
        boolean serve = args.length > 0;
        if (!serve) {
            environment.putIfAbsent("VideoGeneration__BaseDelaySeconds", "1");
            environment.putIfAbsent("FakeProvider__flaky", "timeout,rate-limit,ok");
            environment.putIfAbsent("FakeProvider__down", "unavailable");
            environment.putIfAbsent("FakeProvider__strict", "validation");
        }
        Path file;
        VideoSettings settings;
        FakeProvider provider;
        try {
            file = serve
                    ? kept(args)
                    : Files.createTempDirectory("video-generation").resolve("tasks.db");
            settings = VideoSettings.read(environment);
            provider = FakeProvider.of(environment);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        try (VideoService service =
                VideoService.start(settings, provider, JdbcJobStore.sqlite(file), serve ? 8080 : 0)) {
            System.out.println("Videos are generated at " + service.url() + " with " + settings);
            if (serve) {
                System.out.println("Tasks and keys are kept in " + file.toAbsolutePath());
                System.out.println("Virtual key: " + service.virtualKey("you", null));
                new CountDownLatch(1).await();
            } else {
                play(service);
                retryByHand(provider, file.resolveSibling("switched-off.db"), environment);
            }
        }
    }

    /** The file that keeps the tasks of a service, so that it knows them when it is started again. */
    static Path kept(String[] args) {
        if (args.length > 2 || !args[0].equals(SERVE)) {
            throw new IllegalArgumentException(
                    "usage: video-generation [--serve [FILE]], not " + String.join(" ", args));
        }
        return Path.of(args.length == 2 ? args[1] : KEPT);
    }

    /** With {@code EnableRetries=false} a task fails at once and has its retries left, for a person. */
    private static void retryByHand(FakeProvider provider, Path file, Map<String, String> environment)
            throws IOException, InterruptedException {
        Map<String, String> off = new HashMap<>(environment);
        off.put("VideoGeneration__EnableRetries", "false");
        try (VideoService service =
                VideoService.start(VideoSettings.read(off), provider, JdbcJobStore.sqlite(file), 0)) {
            VideoClient ada = new VideoClient(service.url(), service.virtualKey("ada", "ada"));
            String flaky = ada.generate("flaky", "a cat on a bicycle");
            System.out.println("With VideoGeneration__EnableRetries=false: "
                    + ada.await(flaky).body());
            System.out.println("Retry by hand: " + ada.retry(flaky).body());
            System.out.println("It ended: " + ada.await(flaky).body());
        }
    }

    private static void play(VideoService service) throws IOException, InterruptedException {
        try (Receiver receiver = new Receiver(VideoGeneration::heard)) {
            VideoClient ada = new VideoClient(service.url(), service.virtualKey("ada", "ada"));
            VideoClient bob = new VideoClient(service.url(), service.virtualKey("bob", "bob"));
            ada.subscribe(receiver.url());
            String flaky = ada.generate("flaky", "a cat on a bicycle");
            String down = ada.generate("down", "a dog in the rain");
            String strict = ada.generate("strict", "something forbidden");
            System.out.println(
                    "While it waits for its retry: " + ada.waiting(down).body());
            for (String task : new String[] {flaky, down, strict}) {
                System.out.println(task + " ended: " + ada.await(task).body());
                receiver.of(task);
            }
            System.out.println(
                    "Retry of one that succeeded: " + ada.retry(flaky).body());
            System.out.println("Retry of one that has spent its retries: "
                    + ada.retry(down).body());
            System.out.println(
                    "Retry of one that cannot succeed: " + ada.retry(strict).body());
            System.out.println("Somebody else asks for it: " + bob.task(flaky).body());
            System.out.println("Metrics: successes by attempt, failures by provider, retries, time to success");
            VideoClient operator = new VideoClient(service.url(), service.virtualKey("operator", null));
            operator.metrics().forEach(line -> System.out.println("  " + line));
        }
    }

    private static void heard(JsonNode data) {
        System.out.println("  webhook: " + data);
    }
}
