// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobState;
import io.reprise.retry.FailReason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the examples for users of other queues claim, measured by what those queues document. */
@Timeout(600)
class SeedsTest {

    @TempDir
    Path directory;

    private static void within(List<Duration> delays, double... millis) {
        assertThat(delays).hasSize(millis.length / 2);
        for (int i = 0; i < delays.size(); i++) {
            assertThat((double) delays.get(i).toMillis()).isBetween(millis[2 * i], millis[2 * i + 1]);
        }
    }

    private static void failed(Told told, FailReason reason, int attempts) {
        assertThat(told.job().state()).isEqualTo(JobState.FAILED);
        assertThat(told.job().failReason()).isEqualTo(reason);
        assertThat(told.job().attempts()).isEqualTo(attempts);
    }

    @Test
    void omniq() {
        Omniq.Results results = Omniq.run();
        assertThat(results.flaky().job().state()).isEqualTo(JobState.SUCCEEDED);
        within(results.flaky().delays(), 750, 1250, 1500, 2500);
        failed(results.spent(), FailReason.EXHAUSTED, 6);
        within(results.spent().delays(), 750, 1250, 1500, 2500, 3000, 5000, 6000, 10000, 12000, 20000);
        failed(results.once(), FailReason.EXHAUSTED, 1);
        failed(results.linear(), FailReason.EXHAUSTED, 5);
        within(results.linear().delays(), 5000, 5000, 10000, 10000, 15000, 15000, 20000, 20000);
        failed(results.fatal(), FailReason.PERMANENT, 1);
        assertThat(results.patient().job().state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(results.patient().job().attempts()).isEqualTo(13);
        assertThat(results.patient().delays().get(5).toMillis()).isBetween(24_000L, 40_000L);
        assertThat(results.patient().delays().subList(6, 12))
                .as("a minute at most, and a quarter of jitter")
                .allSatisfy(delay -> assertThat(delay.toMillis()).isBetween(45_000L, 75_000L));
        assertThat(results.doneOnce()).isTrue();
        assertThat(results.alerts()).anyMatch(alert -> alert.contains("process_data"));
        assertThat(results.checks()).hasSize(4).allSatisfy(check -> {
            assertThat(check.state()).isEqualTo(JobState.FAILED);
            assertThat(check.attempts()).isEqualTo(4);
        });
    }

    @Test
    void omniq_in_a_loop_of_its_own_on_a_file(@TempDir Path directory) {
        OmniqLoop.Results results = OmniqLoop.run(directory.resolve("tasks.db"));
        List<Job> ended = results.ended();
        assertThat(ended)
                .extracting(Job::state)
                .containsExactly(
                        JobState.SUCCEEDED,
                        JobState.SUCCEEDED,
                        JobState.FAILED,
                        JobState.SUCCEEDED,
                        JobState.SUCCEEDED);
        assertThat(ended).extracting(Job::attempts).containsExactly(1, 2, 1, 2, 1);
        assertThat(ended.get(2).failReason()).isEqualTo(FailReason.PERMANENT);
        assertThat(ended.get(2).status().lastError().type()).isEqualTo("PermanentError");
        assertThat(results.payments()).containsExactly("charged", "already_processed");
        assertThat(results.retryCounts())
                .containsOnly(Map.entry("my_module.process_data", 1), Map.entry("my_module.process_payment", 1));
        assertThat(results.failed()).containsExactly(ended.get(2).id());
    }

    @Test
    void stent() {
        Stent.Results results = Stent.run();
        failed(results.flaky(), FailReason.EXHAUSTED, 3);
        within(results.flaky().delays(), 900, 1100, 1800, 2200);
        assertThat(results.network().job().state()).isEqualTo(JobState.SUCCEEDED);
        within(results.network().delays(), 400, 600, 600, 900, 900, 1350, 1350, 2025, 2025, 3038, 3037, 4557);
        failed(results.invalid(), FailReason.PERMANENT, 1);
        assertThat(results.dead())
                .extracting(Job::type)
                .containsExactlyInAnyOrder("flaky_operation", "external_api_call", "external_api_call");
        assertThat(results.replayed().job().id()).isEqualTo(results.replayedAs());
        assertThat(results.replayedAs()).isNotEqualTo(results.flaky().job().id());
        assertThat(results.replayed().job().queue()).isEqualTo("retry");
        assertThat(results.replayed().job().state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(results.replayed().job().attempts()).isEqualTo(1);
        assertThat(results.charged()).isEqualTo(30);
        failed(results.refused(), FailReason.EXHAUSTED, 4);
        within(results.refused().delays(), 900, 1100, 1800, 2200, 3600, 4400);
        failed(results.unknown(), FailReason.PERMANENT, 1);
        failed(results.batch(), FailReason.EXHAUSTED, 3);
        within(results.batch().delays(), 42_000, 78_000, 126_000, 234_000);
        failed(results.refund(), FailReason.EXHAUSTED, 1);
        assertThat(results.refundedOnce()).isTrue();
        assertThat(results.warnings()).contains("deadline-before-worst-case");
        failed(results.subclass(), FailReason.EXHAUSTED, 5);
        assertThat(results.afterFailure()).isEqualTo(JobState.PENDING);
        failed(results.limited(), FailReason.EXHAUSTED, 2);
        within(results.limited().delays(), 48_000, 72_000);
    }

    @Test
    void stent_orchestrates() {
        StentOrchestration.Results results = StentOrchestration.run();
        for (Job job : List.of(results.approved(), results.forgotten(), results.refused())) {
            assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
        }
        assertThat(results.done())
                .containsExactlyInAnyOrder(
                        "approved reserved",
                        "forgotten reserved",
                        "refused reserved",
                        "approved charged",
                        "forgotten charged",
                        "approved shipped as [label approved-1, label approved-2] after payment of approved,"
                                + " approved by [ada, bob]",
                        "refused released: charge",
                        "forgotten released: legal");
    }

    @Test
    void weave() {
        Weave.Results results = Weave.run();
        failed(results.defaults(), FailReason.EXHAUSTED, 4);
        within(results.defaults().delays(), 0, 500, 0, 1000, 0, 2000);
        failed(results.panicked(), FailReason.EXHAUSTED, 4);
        failed(results.financial(), FailReason.EXHAUSTED, 6);
        within(results.financial().delays(), 0, 1000, 0, 2000, 0, 4000, 0, 8000, 0, 16000);
        failed(results.oneShot(), FailReason.EXHAUSTED, 1);
        failed(results.own(), FailReason.EXHAUSTED, 5);
        within(results.own().delays(), 0, 100, 0, 200, 0, 400, 0, 800);
        failed(results.aggressive(), FailReason.EXHAUSTED, 3);
        assertThat(results.kept()).isEqualTo(6);
        failed(results.byHand(), FailReason.EXHAUSTED, 2);
        assertThat(results.order()).containsExactly("once high #1", "once high #2", "normal #1", "low #1");
        assertThat(results.effects()).as("the work was done once").isEqualTo(1);
        assertThat(results.repeated().job().state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(results.repeated().job().attempts()).isEqualTo(2);
        assertThat(results.alerts())
                .anyMatch(alert -> alert.contains("%"))
                .anyMatch(alert -> alert.contains("dead letters"))
                .anyMatch(alert -> alert.contains("backoff"));
        assertThat(results.retries()).isEqualTo(3 + 3 + 5 + 4 + 2 + 1 + 1);
        assertThat(results.exhausted()).isEqualTo(6);
    }

    @Test
    void micro_queue() {
        MicroQueue.Results results = MicroQueue.run((String) null);
        assertThat(results.done().job().state()).isEqualTo(JobState.SUCCEEDED);
        failed(results.failed(), FailReason.PERMANENT, 1);
        assertThat(results.retried().job().state()).isEqualTo(JobState.SUCCEEDED);
        within(results.retried().delays(), 10, 10, 20, 20);
        failed(results.exhausted(), FailReason.EXHAUSTED, 11);
        assertThat(results.stuck().job().state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(results.stuck().job().counts().losses()).isEqualTo(1);
        assertThat(results.stuck().delays()).as("it came back at once").containsExactly(Duration.ZERO);
        assertThat(results.fenced()).as("the silent worker's token is outdated").isTrue();
        assertThat(results.dead()).as("in tasks_dlq").isEqualTo(3);
        assertThat(results.found()).isEqualTo(3);
        assertThat(results.moved())
                .extracting(told -> told.job().state())
                .containsExactly(JobState.SUCCEEDED, JobState.FAILED, JobState.SUCCEEDED);
        assertThat(results.moved().get(1).job().attempts())
                .as("after nine with the old queue")
                .isEqualTo(2);
        assertThat(results.moved().get(1).delays()).containsExactly(Duration.ofMillis(10));
        assertThat(results.oldStates()).containsExactly("moved", "moved", "moved", "done", "failed");
        assertThat(results.document().get("payload", Document.class)).containsEntry("customer", "ada");
        assertThat(results.order()).containsSubsequence("fine", "invalid", "twice", "never");
        assertThat(results.letter().get("error", Document.class))
                .containsEntry("message", "payload is not valid")
                .containsEntry("code", "INVALID_PAYLOAD")
                .containsKey("at");
        assertThat(results.indexes())
                .contains(
                        new Document("status", 1).append("created_at", 1),
                        new Document("next_retry_at", 1),
                        new Document("status", 1).append("updated_at", 1));
    }
}
