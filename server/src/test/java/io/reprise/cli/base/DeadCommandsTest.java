// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.cli.Cli;
import io.reprise.cli.base.QueueFixture.Way;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Commands on dead letters, each against a server that runs and straight on its store. */
class DeadCommandsTest {

    @TempDir
    Path directory;

    private QueueFixture queue;

    @BeforeEach
    void start() {
        queue = new QueueFixture(directory);
    }

    @AfterEach
    void stop() {
        queue.close();
    }

    private static void refused(Cli run, String... words) {
        assertThat(run.code()).as(run.err()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(run.err()).contains(words).doesNotContain("internal error");
    }

    private String state(String id) {
        return queue.run(Way.SERVER, "jobs", "show", id, "--json")
                .json()
                .path("state")
                .stringValue();
    }

    @ParameterizedTest
    @EnumSource
    void dead_letters_are_listed_and_grouped(Way way) {
        assertThat(queue.run(way, "dead").out()).isEqualToIgnoringNewLines("No dead letters.");
        String id = queue.deadLetter("--queue", "mail");
        queue.deadLetter("--queue", "other");
        Cli listed = queue.run(way, "dead", "list", "--queue", "mail");
        assertThat(listed.code()).isZero();
        assertThat(listed.out()).contains(id).contains("FAILED PERMANENT");
        assertThat(listed.out()).as("an error cannot colour the screen").doesNotContain("\u001b");
        JsonNode groups = queue.run(way, "dead", "groups", "--json").json().path("items");
        assertThat(groups.size()).isEqualTo(1);
        assertThat(groups.get(0).path("count").intValue()).isEqualTo(2);
        String fingerprint = groups.get(0).path("fingerprint").stringValue();
        assertThat(queue.run(way, "dead").out()).contains(fingerprint);
        refused(queue.run(way, "dead", "groups", "--limit", "0"), "limit");
        refused(queue.run(way, "dead", "list", "--since", "yesterday"), "since");
    }

    @ParameterizedTest
    @EnumSource
    void dead_letters_are_replayed_by_id(Way way) {
        String id = queue.deadLetter();
        queue.repaired = true;
        Cli replayed = queue.run(way, "dead", "replay", id, "987654321", "--to-queue", "again", "--payload", "{}");
        refused(replayed, "--payload is for one id only");
        Cli one = queue.run(way, "dead", "replay", id, "--to-queue", "again", "--payload", "{}");
        assertThat(one.code()).as(one.err()).isZero();
        assertThat(one.out()).contains("Job " + id + " is back as job " + id + " in queue again");
        refused(queue.run(way, "dead", "replay", "987654321"), "Job 987654321 does not exist");
        refused(queue.run(way, "dead", "replay"), "Say which");
        refused(queue.run(way, "dead", "replay", id, "--all"), "not both");
        refused(queue.run(way, "dead", "replay", id, "--rate", "3"), "not for ids");
    }

    @ParameterizedTest
    @EnumSource
    void a_paced_replay_is_watched_to_its_end(Way way) {
        for (int i = 0; i < 4; i++) {
            queue.deadLetter();
        }
        Cli counted = queue.run(way, "dead", "replay", "--type", "broken", "--dry-run");
        assertThat(counted.out()).contains("4 dead letters match");
        Cli tried = queue.run(way, "dead", "replay", "--type", "broken", "--dry-run", "--patch", "{\"city\":\"Oslo\"}");
        assertThat(tried.out()).as(tried.err()).contains("would have the payload {\"city\":\"Oslo\"");
        refused(queue.run(way, "dead", "replay", "--all", "--patch", "{}"), "/filter/type");
        queue.repaired = true;
        Cli done = queue.run(way, "dead", "replay", "--type", "broken", "--rate", "100", "--canary", "2");
        assertThat(done.code()).as(done.err() + done.out()).isZero();
        assertThat(done.out()).contains("DONE").contains("4 put back, 4 succeeded, 0 failed again");
        assertThat(queue.run(way, "dead", "replays").out()).contains("DONE");
    }

    @ParameterizedTest
    @EnumSource
    void a_paced_replay_that_stops_itself_is_a_finding(Way way) {
        String first = queue.deadLetter();
        String second = queue.deadLetter();
        Cli stopped = queue.run(way, "dead", "replay", "--all", "--json");
        assertThat(stopped.code()).as(stopped.err()).isEqualTo(ExitCode.FINDING);
        JsonNode replay = stopped.json();
        assertThat(replay.path("state").stringValue()).isEqualTo("STOPPED");
        assertThat(replay.path("replayed").intValue()).isEqualTo(1);
        assertThat(state(first)).isEqualTo("FAILED");
        assertThat(state(second)).isEqualTo("FAILED");
        String id = replay.path("id").stringValue();
        assertThat(queue.run(way, "dead", "watch", id).code()).isEqualTo(ExitCode.FINDING);
        refused(queue.run(way, "dead", "cancel", id), "STOPPED already");
        refused(queue.run(way, "dead", "watch", "nosuch"), "Replay 'nosuch' does not exist");
        refused(queue.run(way, "dead", "replay", "--all", "--rate", "0"), "/rate");
    }

    @ParameterizedTest
    @EnumSource
    void a_paced_replay_is_started_and_cancelled(Way way) {
        for (int i = 0; i < 3; i++) {
            queue.deadLetter("--queue", "slow");
        }
        queue.run(way, "queues", "pause", "slow");
        Cli begun = queue.run(way, "dead", "replay", "--queue", "slow", "--detach", "--json");
        assertThat(begun.code()).as(begun.err()).isZero();
        String id = begun.json().path("id").stringValue();
        Cli cancelled = queue.run(way, "dead", "cancel", id, "--why", "a test");
        assertThat(cancelled.code()).as(cancelled.err()).isZero();
        assertThat(cancelled.out()).contains("Replay " + id + " is cancelled");
    }

    @ParameterizedTest
    @EnumSource
    void dead_letters_are_discarded(Way way) {
        String id = queue.deadLetter("--queue", "mail");
        queue.deadLetter("--queue", "mail");
        String other = queue.deadLetter("--queue", "other");
        assertThat(queue.run(way, "dead", "discard", id).out()).contains("Job " + id + " is discarded");
        refused(queue.run(way, "dead", "discard", id), "Job " + id + " does not exist");
        refused(queue.run(way, "dead", "discard"), "Say which");
        refused(queue.run(way, "dead", "discard", "--queue", "mail"), "--dry-run", "--yes");
        assertThat(queue.run(way, "dead", "discard", "--queue", "mail", "--dry-run")
                        .out())
                .contains("1 dead letters match");
        Cli all = queue.run(way, "dead", "discard", "--queue", "mail", "--yes", "--json");
        assertThat(all.code()).isZero();
        assertThat(all.json().path("discarded").intValue()).isEqualTo(1);
        assertThat(state(other)).isEqualTo("FAILED");
    }

    @ParameterizedTest
    @EnumSource
    void a_dead_letter_is_retried_at_a_time(Way way) {
        String id = queue.deadLetter();
        Cli retried = queue.run(way, "jobs", "retry", id, "--at", "2098-12-01T09:00Z", "--force");
        assertThat(retried.code()).as(retried.err()).isZero();
        assertThat(queue.run(way, "jobs", "show", id, "--json")
                        .json()
                        .path("dueAt")
                        .stringValue())
                .isEqualTo("2098-12-01T09:00:00Z");
        refused(queue.run(way, "jobs", "retry", id, "--at", "2020-01-01T00:00Z"), "at is 2020-01-01T00:00:00Z");
        refused(queue.run(way, "jobs", "retry", id, "--at", "tomorrow"), "--at is 'tomorrow'");
        refused(queue.run(way, "jobs", "retry", id, "--at", "2098-12-01T09:00Z", "--backoff"), "give one of them");
    }

    @ParameterizedTest
    @EnumSource
    void waiting_jobs_are_changed_by_id_and_by_search(Way way) {
        queue.run(way, "jobs", "enqueue", "bill", "--delay", "1h");
        String id = queue.run(way, "jobs", "enqueue", "bill", "--delay", "1h", "--json")
                .json()
                .path("id")
                .stringValue();
        Cli one = queue.run(way, "jobs", "change", id, "--priority", "5", "--queue", "late", "--why", "by hand");
        assertThat(one.code()).as(one.err()).isZero();
        assertThat(one.out()).contains("Job " + id + " waits in queue late with priority 5");
        refused(queue.run(way, "jobs", "change", id), "Say what to change");
        refused(queue.run(way, "jobs", "change", "--priority", "5"), "Say which");
        Cli counted = queue.run(way, "policy", "apply", "omniq", "--to", "type:bill state:pending", "--dry-run");
        assertThat(counted.out()).as(counted.err()).contains("2 jobs match");
        Cli applied = queue.run(way, "policy", "apply", "omniq", "--to", "type:bill state:pending");
        assertThat(applied.code()).as(applied.err()).isZero();
        assertThat(applied.out()).contains("DONE. 2 changed, 0 refused");
        assertThat(queue.run(way, "jobs", "show", id, "--json")
                        .json()
                        .path("maxRetries")
                        .intValue())
                .isEqualTo(3);
        refused(
                queue.run(way, "policy", "apply", "nope", "--to", "type:bill state:pending"),
                "no stored policy 'nope'");
        refused(queue.run(way, "policy", "apply", "omniq"), "Say to which jobs");
    }

    @ParameterizedTest
    @EnumSource
    void a_bulk_says_why_the_first_job_was_refused(Way way) {
        String dead = queue.deadLetter();
        Cli counted = queue.run(way, "policy", "apply", "omniq", "--to", "state:failed", "--dry-run");
        assertThat(counted.out()).as(counted.err()).contains("1 job matches");
        Cli applied = queue.run(way, "policy", "apply", "omniq", "--to", "state:failed");
        assertThat(applied.code()).as(applied.err()).isEqualTo(ExitCode.FINDING);
        assertThat(applied.out()).contains("of 1 job: DONE. 0 changed, 1 refused; the first refusal: Job " + dead);
    }

    @ParameterizedTest
    @EnumSource
    void policies_and_ceilings_that_contradict_each_other_are_refused(Way way) {
        queue.run(way, "settings", "set", "type:bill", "{\"policy\":\"omniq\"}");
        String ceiling = "{\"ceilings\":{\"maxAttempts\":3}}";
        refused(
                queue.run(way, "settings", "set", "defaults", ceiling),
                "types/bill: policy.maxAttempts is 4 but must be at most 3, which is the ceiling");
        queue.run(way, "settings", "unset", "type:bill");
        Cli set = queue.run(way, "settings", "set", "defaults", ceiling);
        assertThat(set.code()).as(set.err()).isZero();
        refused(
                queue.run(way, "policy", "apply", "omniq", "--to", "state:pending"),
                "/change/policy: policy.maxAttempts is 4 but must be at most 3, which is the ceiling");
    }
}
