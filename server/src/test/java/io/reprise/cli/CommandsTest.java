// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.base.ExitCode;
import io.reprise.cli.base.QueueFixture;
import io.reprise.cli.base.QueueFixture.Way;
import io.reprise.retry.RetryPolicy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Commands on jobs and what surrounds them, each against a server that runs and straight on its store. */
@TestInstance(Lifecycle.PER_CLASS)
public class CommandsTest {

    @TempDir
    static Path directory;

    private QueueFixture queue;

    @BeforeAll
    void start() {
        queue = new QueueFixture(storeUrl());
    }

    public String storeUrl() {
        return "sqlite:" + directory.resolve("jobs.db");
    }

    @AfterAll
    void stop() {
        queue.close();
    }

    private static void refused(Cli run, String... words) {
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(run.err()).contains(words).doesNotContain("internal error");
        assertThat(run.out()).isEmpty();
    }

    private static Cli fine(Cli run) {
        assertThat(run.code()).as(run.err()).isZero();
        return run;
    }

    @ParameterizedTest
    @EnumSource
    void a_job_is_enqueued_awaited_listed_and_shown(Way way) {
        Cli enqueued = queue.run(
                way,
                "jobs",
                "enqueue",
                "fine",
                "--payload",
                "{\"a\":1}",
                "--queue",
                "q" + way,
                "--tag",
                "t",
                "--wait",
                "60s",
                "--json",
                "--max-retries",
                "7");
        JsonNode job = fine(enqueued).json();
        assertThat(job.path("state").stringValue()).isEqualTo("SUCCEEDED");
        assertThat(job.path("maxAttempts").intValue()).isEqualTo(8);
        String id = job.path("id").stringValue();
        Cli listed = queue.run(way, "jobs", "list", "--queue", "q" + way, "--tag", "t", "--state", "succeeded");
        assertThat(fine(listed).out()).contains(id).contains("SUCCEEDED").contains("1 of 8");
        Cli shown = fine(queue.run(way, "jobs", "show", id));
        assertThat(shown.out()).contains("Job " + id + ": SUCCEEDED").contains("payload: {\"a\":1}");
        assertThat(queue.run(way, "jobs", "show", id, "--json")
                        .json()
                        .path("history")
                        .size())
                .isEqualTo(1);
        Cli none = queue.run(way, "jobs", "--json");
        assertThat(fine(none).json().path("items").isEmpty()).isFalse();
        assertThat(queue.run(way, "jobs", "list", "--type", "nothing").out()).isEqualToIgnoringNewLines("No jobs.");
    }

    @ParameterizedTest
    @EnumSource
    void what_is_wrong_with_a_job_is_said(Way way) {
        refused(queue.run(way, "jobs", "show", "987654321"), "Job 987654321 does not exist");
        refused(queue.run(way, "jobs", "show", "x"), "x: id: must be an id");
        refused(queue.run(way, "jobs", "enqueue", "fine", "--payload", "{"), "--payload is not JSON");
        refused(queue.run(way, "jobs", "enqueue", "fine", "--policy", "nosuch"), "nosuch");
        refused(
                queue.run(way, "jobs", "enqueue", "fine", "--priority", "99", "--delay", "soon"),
                "/priority",
                "/delay",
                "2 fields are wrong");
        refused(queue.run(way, "jobs", "enqueue"), "Give either a TYPE or a --file");
        refused(queue.run(way, "jobs", "list", "--state", "odd"), "state");
        refused(queue.run(way, "jobs", "list", "--limit", "0"), "--limit");
        refused(queue.run(way, "jobs", "cancel", "987654321"), "Job 987654321 does not exist");
        refused(queue.run(way, "jobs", "retry", "987654321"), "Job 987654321 does not exist");
    }

    @ParameterizedTest
    @EnumSource
    void a_full_queue_refuses(Way way) {
        String full = "full" + way;
        fine(queue.run(way, "settings", "set", "queue:" + full, "{\"ceilings\":{\"queueDepth\":1}}"));
        Cli refused = null;
        while (refused == null || refused.code() == ExitCode.OK) {
            // A worker reads the settings every two seconds.
            refused = queue.run(way, "jobs", "enqueue", "later", "--queue", full, "--delay", "1d");
        }
        refused(refused, "must hold at most 1");
        fine(queue.run(way, "settings", "unset", "queue:" + full));
    }

    @ParameterizedTest
    @EnumSource
    void a_policy_is_stored_under_a_name_used_and_removed(Way way) {
        String name = "patient-" + way;
        refused(queue.run(way, "policy", "show", name), "Policy '" + name + "' does not exist");
        String json = "{\"maxAttempts\":50,\"backoff\":\"fixed\",\"base\":\"2h\",\"jitter\":\"none\"}";
        Cli set = fine(queue.run(way, "policy", "set", name, json, "--why", "long outages"));
        assertThat(set.out()).isEqualToIgnoringNewLines("Policy " + name + " is stored: 50 attempts (49 retries)");
        assertThat(set.err()).contains("[no-jitter]");
        assertThat(fine(queue.run(way, "policy", "list")).out())
                .containsPattern(name + " +\\d+ +50 +2h always +none +none")
                .doesNotContain("omniq");
        String id = fine(queue.run(way, "jobs", "enqueue", "later", "--policy", name, "--delay", "1d", "--json"))
                .json()
                .path("id")
                .stringValue();
        JsonNode job = queue.run(way, "jobs", "show", id, "--json").json();
        assertThat(job.path("maxAttempts").intValue()).isEqualTo(50);
        String shown = fine(queue.run(way, "policy", "show", name)).out();
        assertThat(RetryPolicy.fromJson(shown)).isEqualTo(RetryPolicy.fromJson(json));
        Cli again = queue.runWith(way, shown.replace("50", "7"), "policy", "set", name, "-");
        assertThat(fine(again).out()).contains("7 attempts (6 retries)");
        refused(queue.run(way, "policy", "set", "omniq", json), "name of a preset");
        refused(queue.run(way, "policy", "set", name, "{\"cap\":\"0s\"}"), "cap");
        refused(queue.run(way, "policy", "set", name, "no-such-file.json"), "there is no such file");
        refused(queue.run(way, "policy", "set", name, "{"), "The policy is not JSON");
        assertThat(fine(queue.run(way, "policy", "remove", name)).out())
                .isEqualToIgnoringNewLines("Policy " + name + " is removed");
        assertThat(queue.run(way, "policy", "list").out()).doesNotContain(name);
        refused(queue.run(way, "policy", "remove", name), "Policy '" + name + "' does not exist");
    }

    @ParameterizedTest
    @EnumSource
    void many_jobs_come_from_a_file_and_come_once(Way way) {
        String lines = IntStream.range(0, 1_100)
                .mapToObj(i -> "{\"type\":\"later\",\"delay\":\"1d\",\"queue\":\"bulk" + way
                        + "\",\"idempotencyKey\":\"" + way + i + "\"}")
                .collect(Collectors.joining("\n"));
        Cli first = queue.runWith(way, lines, "jobs", "enqueue", "--file", "-");
        assertThat(fine(first).out()).contains("1100 jobs: 1100 enqueued");
        Cli again = queue.runWith(way, lines, "jobs", "enqueue", "--file", "-", "--json");
        assertThat(fine(again).json().path("created").intValue()).isZero();
        JsonNode pages = queue.run(way, "jobs", "list", "--queue", "bulk" + way, "--limit", "2000", "--json")
                .json();
        assertThat(pages.path("items").size()).isEqualTo(1_100);
        assertThat(pages.path("next").isNull()).isTrue();
        refused(queue.runWith(way, "{\"type\":\"a\"}\n[]", "jobs", "enqueue", "--file", "-"), "line 2");
        Cli bad = queue.runWith(way, "{\"type\":\"a\"}\n{\"typ\":\"b\"}", "jobs", "enqueue", "--file", "-");
        refused(bad, "0 of 2 jobs were enqueued", "/1/type");
        refused(queue.run(way, "jobs", "enqueue", "--file", "/nonexistent/jobs"), "Cannot read");
    }

    @ParameterizedTest
    @EnumSource
    void jobs_are_retried_and_cancelled_by_hand(Way way) {
        String dead = queue.deadLetter();
        Cli barred = queue.run(way, "jobs", "retry", dead);
        refused(barred, "Job " + dead, "force");
        Cli both = queue.run(way, "jobs", "retry", "987654321", dead, "--force", "--why", "I know better");
        assertThat(both.code()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(both.err()).contains("Job 987654321 does not exist");
        // A worker may be quicker than the answer.
        assertThat(both.out()).containsPattern("Job " + dead + " is (PENDING|RUNNING|FAILED)");
        String later = fine(queue.run(way, "jobs", "enqueue", "fine", "--delay", "1d", "--json"))
                .json()
                .path("id")
                .stringValue();
        assertThat(fine(queue.run(way, "jobs", "cancel", later)).out()).contains("Job " + later + " is cancelled");
        refused(queue.run(way, "jobs", "cancel", later), "has ended already");
    }

    @ParameterizedTest
    @EnumSource
    void what_happens_is_told_as_it_happens(Way way) throws Exception {
        CompletableFuture<Cli> tail = CompletableFuture.supplyAsync(() ->
                queue.run(way, "jobs", "tail", "--type", "fine", "--queue", "tail" + way, "--count", "3", "--json"));
        // Only what comes after it has begun to listen is told, so something comes until enough was told.
        while (!tail.isDone()) {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            fine(queue.run(Way.SERVER, "jobs", "enqueue", "fine", "--queue", "tail" + way, "--wait", "60s"));
        }
        Cli told = tail.get();
        assertThat(told.code()).isZero();
        assertThat(told.err()).contains(way == Way.SERVER ? "the whole fleet" : "the store");
        assertThat(told.out().lines())
                .hasSize(3)
                .allSatisfy(line -> assertThat(line).contains("\"queue\":\"tail" + way + "\""));
        refused(queue.run(way, "jobs", "tail", "--job", "987654321x"), "must be an id");
    }

    @ParameterizedTest
    @EnumSource
    void groups_of_a_queue_and_needs_of_a_job_are_shown(Way way) {
        String name = "groups/" + way;
        for (String group : List.of("a", "b", "b")) {
            fine(queue.run(way, "jobs", "enqueue", "far", "--queue", name, "--group", group));
        }
        assertThat(fine(queue.run(way, "queues", "groups", name)).out().lines().map(String::strip))
                .anyMatch(line -> line.matches("b +2 +0 +0"));
        String id = fine(queue.run(way, "jobs", "enqueue", "far", "--queue", name, "--needs", "gpu,eu", "--json"))
                .json()
                .path("id")
                .asString();
        JsonNode job = queue.run(way, "jobs", "show", id, "--json").json();
        assertThat(job.path("queue").stringValue()).isEqualTo(name + "@needs:eu:gpu");
        refused(queue.run(way, "jobs", "enqueue", "far", "--needs", "g:pu"), "/needs/0", "1 to 30 letters");
    }

    @ParameterizedTest
    @EnumSource
    void queues_are_paused_resumed_and_limited(Way way) {
        String name = "lane/" + way;
        assertThat(fine(queue.run(way, "queues", "pause", name, "--why", "a test"))
                        .out())
                .contains("Queue " + name + " is paused");
        assertThat(fine(queue.run(way, "queues")).out()).contains(name).contains("a test");
        fine(queue.run(way, "queues", "resume", name));
        fine(queue.run(way, "queues", "limit", name, "4"));
        JsonNode all = queue.run(way, "queues", "list", "--json").json();
        assertThat(all.path("items")
                        .valueStream()
                        .filter(each -> each.path("name").stringValue().equals(name)))
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.path("maxRunning").intValue()).isEqualTo(4);
                    assertThat(each.path("paused").booleanValue()).isFalse();
                });
        fine(queue.run(way, "queues", "limit", name, "none"));
        fine(queue.run(way, "settings", "set", "queue:" + name, "{\"perGroup\":{\"gold-*\":{\"running\":7}}}"));
        // A worker that reads the settings at this moment may still have the ones before.
        until(() -> fine(queue.run(way, "queues", "limits", name)).out().contains("gold-*"));
        assertThat(fine(queue.run(way, "queues", "limits", name)).out())
                .containsPattern("group gold-\\*\\s+7 .*the settings");
        Cli limited = queue.run(way, "queues", "limit", name, "4");
        assertThat(limited.err())
                .contains("at most 4 jobs of the queue run at once, so the limit of group gold-* is never reached");
        Cli limits = queue.run(way, "queues", "limits", name);
        assertThat(limits.out()).containsPattern("the queue\\s+4 .*queues limit");
        assertThat(limits.err()).contains("group gold-* is never reached");
        assertThat(queue.run(way, "queues", "limit", name, "7").err()).doesNotContain("never");
        refused(queue.run(way, "queues", "limit", name, "0"), "N must be a number from 1");
        refused(queue.run(way, "queues", "resume", "nosuch"), "Queue 'nosuch' does not exist");
        refused(queue.run(way, "queues", "pause", "bad name"), "queue");
    }

    @ParameterizedTest
    @EnumSource
    void breakers_are_forced(Way way) {
        String name = "res-" + way;
        assertThat(fine(queue.run(way, "resources", "force-open", name)).out()).contains("OPEN");
        assertThat(fine(queue.run(way, "resources")).out()).contains(name).contains("OPEN");
        assertThat(fine(queue.run(way, "resources", "force-close", name)).out()).contains("CLOSED");
        fine(queue.run(way, "resources", "automatic", name));
        refused(queue.run(way, "resources", "force-open", "bad name"), "resource");
    }

    @ParameterizedTest
    @EnumSource
    void schedules_are_made_triggered_and_removed(Way way) {
        String name = "sched-" + way;
        Cli made = queue.run(
                way,
                "schedules",
                "create",
                name,
                "later",
                "--cron",
                "0 3 * * *",
                "--zone",
                "Europe/Paris",
                "--queue",
                "s",
                "--max-retries",
                "2");
        assertThat(fine(made).out()).contains("Schedule " + name + " runs next at ");
        assertThat(fine(queue.run(way, "schedules")).out())
                .contains(name)
                .contains("0 3 * * *")
                .contains("later");
        String id = fine(queue.run(way, "schedules", "trigger", name, "--json"))
                .json()
                .path("id")
                .stringValue();
        assertThat(fine(queue.run(way, "jobs", "list", "--schedule", name)).out())
                .contains(id)
                .contains("0 of 3");
        fine(queue.run(way, "schedules", "pause", name));
        assertThat(fine(queue.run(way, "schedules", "list")).out()).contains("paused");
        fine(queue.run(way, "schedules", "resume", name));
        fine(queue.run(way, "schedules", "remove", name));
        refused(queue.run(way, "schedules", "trigger", name), "Schedule '" + name + "' does not exist");
        refused(queue.run(way, "schedules", "remove", name), "does not exist");
        refused(queue.run(way, "schedules", "create", name, "later", "--cron", "nonsense"), "/cron");
        refused(
                queue.run(way, "schedules", "create", name, "later"),
                "Give exactly one of --cron, --every and --fixed-delay");
        made = queue.run(
                way, "schedules", "create", name, "later", "--fixed-delay", "5m", "--start", "2036-01-01T00:00:00Z");
        assertThat(fine(made).out()).contains("Schedule " + name + " runs next at ");
        assertThat(fine(queue.run(way, "schedules")).out()).contains("5m after the last");
        made = queue.run(way, "schedules", "create", name, "later", "--every", "5m", "--end", "2020-01-01T00:00:00Z");
        assertThat(fine(made).out()).contains("Schedule " + name + " has ended and does not run");
        assertThat(fine(queue.run(way, "schedules")).out()).contains("ended");
        refused(
                queue.run(way, "schedules", "create", name, "later", "--every", "5m", "--jitter", "1h"),
                "/jitter: jitter of schedule");
        fine(queue.run(way, "schedules", "remove", name));
    }

    @ParameterizedTest
    @EnumSource
    void keys_are_shown_once(Way way) {
        Cli made = fine(queue.run(way, "keys", "create", "shop", "--scope", "read,enqueue"));
        String key = made.out().strip();
        assertThat(key).startsWith("reprise_").doesNotContain(" ");
        assertThat(made.err()).contains("shown once").doesNotContain(key);
        String id = key.split("_", -1)[1];
        Cli listed = fine(queue.run(way, "keys"));
        assertThat(listed.out()).contains(id).contains("read,enqueue").doesNotContain(key.split("_", -1)[2]);
        assertThat(Cli.run("jobs", "list", "--server", queue.server.url(), "--key", key)
                        .code())
                .isZero();
        Cli forbidden = Cli.run("keys", "list", "--server", queue.server.url(), "--key", key);
        refused(forbidden, "The key does not allow this");
        String rotated = fine(queue.run(way, "keys", "rotate", id)).out().strip();
        assertThat(rotated).startsWith("reprise_" + id + "_").isNotEqualTo(key);
        fine(queue.run(way, "keys", "revoke", id));
        refused(queue.run(way, "keys", "revoke", id), "Key '" + id + "' does not exist");
        refused(queue.run(way, "keys", "rotate", "nosuch"), "does not exist");
        refused(queue.run(way, "keys", "create", "shop", "--scope", "everything"), "scopes");
        refused(queue.run(way, "keys", "create", "shop"), "--scope");
    }

    @Test
    void a_key_that_may_not_read_sets_limits_and_settings() {
        String key = fine(queue.run(Way.SERVER, "keys", "create", "operator", "--scope", "operate"))
                .out()
                .trim();
        String at = " --server " + queue.server.url() + " --key " + key;
        Cli limited = fine(Cli.line("queues limit blind 4" + at));
        assertThat(limited.out()).contains("Queue blind: limit 4");
        assertThat(limited.err()).contains("Warnings cannot be shown", "scope read");
        Cli set = fine(Cli.line("settings set queue:blind {\"startWithin\":\"1m\"}" + at));
        assertThat(set.out()).contains("Settings of queue:blind are stored");
        assertThat(set.err()).contains("Warnings cannot be shown", "scope read");
    }

    @ParameterizedTest
    @EnumSource
    void stats_count_jobs(Way way) {
        fine(queue.run(way, "jobs", "enqueue", "fine", "--wait", "60s"));
        assertThat(fine(queue.run(way, "stats")).out()).contains("SUCCEEDED").contains("1 worker\n");
        JsonNode stats = queue.run(way, "stats", "--since", "2d", "--json").json();
        assertThat(stats.path("counts").path("SUCCEEDED").intValue()).isPositive();
        refused(queue.run(way, "stats", "--since", "long"), "since");
    }

    @ParameterizedTest
    @EnumSource
    void settings_of_the_fleet_are_shown_set_and_removed(Way way) {
        fine(queue.run(way, "settings", "set", "type:set-by-cli", "{\"policy\":{\"maxAttempts\":3}}"));
        assertThat(fine(queue.run(way, "settings")).out())
                .contains("{\"set-by-cli\":{\"policy\":{\"maxAttempts\":3}}}");
        refused(queue.run(way, "settings", "set", "type:x", "{\"policy\":{\"maxAttempts\":0}}"), "maxAttempts is 0");
        refused(queue.run(way, "settings", "set", "kind:x", "{}"), "SCOPE must be");
        refused(queue.run(way, "settings", "set", "defaults", "[1]"), "must be an object");
        fine(queue.run(way, "settings", "unset", "type:set-by-cli"));
        assertThat(fine(queue.run(way, "settings", "show")).out()).doesNotContain("set-by-cli");
        refused(queue.run(way, "settings", "unset", "type:set-by-cli"), "set-by-cli");
    }

    @ParameterizedTest
    @EnumSource
    void a_batch_is_made_filled_and_finished(Way way) {
        String name = "made-" + way;
        String after = "{\"type\":\"later\",\"queue\":\"nobody\"}";
        fine(queue.run(way, "batches", "create", name, "--on-success", after, "--on-end", after));
        refused(queue.run(way, "batches", "create", name, "--on-end", "{"), "--on-end is not JSON");
        fine(queue.run(way, "jobs", "enqueue", "fine", "--batch", name, "--wait", "60s"));
        String key = "{\"type\":\"fine\",\"idempotencyKey\":\"" + name + "\"}\n";
        Cli many = queue.runWith(way, key + key, "jobs", "enqueue", "--file", "-", "--batch", name);
        assertThat(fine(many).out()).contains("2 jobs were sent to batch " + name + ", which has 2 members");
        fine(queue.run(way, "jobs", "enqueue", "fine", "--idempotency-key", name, "--batch", name, "--wait", "60s"));
        refused(queue.run(way, "jobs", "enqueue", "fine", "--batch", "no-" + name), "does not exist");
        refused(queue.run(way, "batches", "finish", name), "takes members: close it first");
        Cli dead = queue.run(
                way, "jobs", "enqueue", "broken", "--max-attempts", "1", "--batch", name, "--wait", "60s", "--json");
        assertThat(dead.code()).as(dead.err()).isEqualTo(ExitCode.FINDING);
        fine(queue.run(way, "batches", "close", name, "--why", "all are in"));
        assertThat(fine(queue.run(way, "batches", "finish", name, "--why", "not needed"))
                        .out())
                .contains("Batch " + name + " is finished; job ");
    }

    @ParameterizedTest
    @EnumSource
    void batches_are_listed_shown_and_closed(Way way) {
        String name = "import-" + way;
        fine(queue.run(way, "batches", "create", name));
        assertThat(fine(queue.run(way, "batches")).out()).contains(name).contains("takes members");
        assertThat(fine(queue.run(way, "batch", "close", name)).out()).contains("is closed; 0 members are open");
        assertThat(fine(queue.run(way, "batches", "show", name)).out()).contains("0 of 0 members have ended");
        assertThat(queue.run(way, "batches", "show", name, "--json")
                        .json()
                        .path("succeededAt")
                        .isString())
                .isTrue();
        refused(queue.run(way, "batches", "close", name), "was closed before");
        refused(queue.run(way, "batches", "finish", name), "has succeeded at");
        refused(queue.run(way, "batches", "show", "nothing"), "'nothing' does not exist");
    }
}
