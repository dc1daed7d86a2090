// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.reprise.batch.BatchState;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.RefusedException;
import io.reprise.job.WaitReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.step.StepFailedException;
import io.reprise.step.StoredStep;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Batches and joins as a user writes them, in virtual time. */
class BatchTest {

    private static final JobType<String> PART = JobType.of("part", String.class).retry(EXACT);
    private static final JobType<String> REPORT =
            JobType.of("report", String.class).retry(EXACT);
    private static final JobType<String> ORDER =
            JobType.of("order", String.class).retry(RetryPolicy.exponential().noDeadline());

    private final List<String> ran = new ArrayList<>();
    private final List<List<String>> joined = new ArrayList<>();
    private final Set<String> broken = new HashSet<>();
    private List<String> parcels = List.of("a", "b", "c");
    private final ManualClock clock = new ManualClock();
    private final InlineWorker worker = InlineWorker.start(
            Reprise.builder()
                    .store(new InMemoryJobStore(clock))
                    .codec(new TextCodec())
                    .handle(PART, this::part)
                    .handle(REPORT, (name, job) -> ran.add(name))
                    .handle(ORDER, this::order),
            clock);
    private final Reprise reprise = worker.reprise();

    @AfterEach
    void close() {
        worker.close();
    }

    private void part(String name, JobContext job) {
        ran.add(name);
        if (broken.contains(name)) {
            throw JobSignal.fail(name + " is broken");
        }
        if (name.equals("parent")) {
            job.addToBatch(List.of(PART.job("child")));
        }
        job.result("label of " + name);
    }

    private void order(String name, JobContext job) {
        joined.add(job.join("labels", PART.jobs(parcels), String.class));
        if (name.equals("twice")) {
            job.step("later", () -> {});
            job.sleep("a-while", Duration.ofHours(1));
        }
    }

    private Batch batch() {
        return reprise.batch("import-7").onSuccess(REPORT.job("success")).onEnd(REPORT.job("end"));
    }

    @Test
    void success_and_end_come_when_all_are_done() {
        Batch batch = batch().add(PART.job("a"), PART.job("b"));
        worker.runDue();
        assertThat(ran).containsExactly("a", "b");
        assertThat(batch.state().percent()).isEqualTo(100);
        assertThat(batch.close().succeededAt()).isNotNull();
        worker.runDue();
        assertThat(ran).containsExactlyInAnyOrder("a", "b", "success", "end");
        assertThat(reprise.findBatch("import-7")).hasValue(batch.state());
        assertThat(reprise.batches("", 10, null).items())
                .extracting(BatchState::name)
                .containsExactly("import-7");
    }

    @Test
    void a_dead_member_that_is_retried_lets_the_success_come_later_than_the_end() {
        broken.add("b");
        Batch batch = batch();
        List<JobId> ids = batch.addAll(PART.jobs(List.of("a", "b")));
        batch.close();
        worker.runDue();
        assertThat(ran).contains("end").doesNotContain("success");
        broken.clear();
        worker.advance(Duration.ofDays(2));
        reprise.as("ada", null).retry(ids.get(1), ManualRetry.NOW.forced());
        worker.runDue();
        assertThat(ran).containsOnlyOnce("end", "success");
        assertThat(batch.state().succeeded()).isEqualTo(2);
    }

    @Test
    void a_person_lets_the_success_come_although_a_member_is_dead() {
        broken.add("b");
        Batch batch = batch();
        Operations ada = reprise.as("ada", "b is not needed");
        batch.addAll(PART.jobs(List.of("a", "b")));
        refusesToFinish(ada, "takes members: close it first");
        batch.close();
        refusesToFinish(ada, "has 2 members that wait or run");
        worker.runDue();
        worker.advance(Duration.ofDays(2));
        assertThat(ran).contains("end").doesNotContain("success");
        assertThat(ada.finishBatch("import-7").succeededAt()).isEqualTo(clock.instant());
        worker.runDue();
        assertThat(ran).containsOnlyOnce("end", "success");
        refusesToFinish(ada, "has succeeded at");
    }

    private static void refusesToFinish(Operations person, String why) {
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(() -> person.finishBatch("import-7"))
                .withMessageStartingWith("Batch 'import-7' ")
                .withMessageContaining(why);
    }

    @Test
    void a_batch_whose_success_has_no_job_that_waits_is_not_finished() {
        Operations ada = reprise.as("ada", null);
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(() -> ada.finishBatch("other"))
                .withMessageContaining("Batch 'other' does not exist");
        reprise.batch("import-7").add(PART.job("a"));
        refusesToFinish(ada, "has no job for its success");
        broken.add("b");
        Batch second = reprise.batch("second").onSuccess(REPORT.job("success")).add(PART.job("b"));
        JobId follower = Objects.requireNonNull(second.close().onSuccess());
        worker.advance(Duration.ofDays(2));
        ada.cancel(follower);
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(() -> ada.finishBatch("second"))
                .withMessageContaining("job " + follower + " was cancelled or deleted");
    }

    @Test
    void a_member_adds_others_to_a_closed_batch() {
        Batch batch = batch().add(PART.job("parent"));
        batch.close();
        worker.runDue();
        assertThat(ran).containsSubsequence("parent", "child").contains("success");
        assertThat(batch.state().total()).isEqualTo(2);
    }

    @Test
    void a_job_of_no_batch_adds_nothing() {
        JobId id = reprise.enqueue(PART.job("parent"));
        worker.runDue();
        assertThat(reprise.find(id).orElseThrow().status().lastError().message())
                .contains("is in no batch");
    }

    @Test
    void bad_use_is_refused_with_a_sentence() {
        Batch batch = batch();
        batch.close();
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(batch::close)
                .withMessageContaining("'import-7' was closed before, at ");
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(() -> batch.add(PART.job("late")))
                .withMessageContaining("'import-7' is closed");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> reprise.batch("a\u0000b"))
                .withMessageContaining("is not a name");
        assertThatIllegalArgumentException().isThrownBy(() -> reprise.batch("#1/2/labels"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> reprise.batch("x")
                        .onEnd(REPORT.job("end").after(Duration.ofHours(1)))
                        .close())
                .withMessageContaining("onEnd");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> reprise.batch("x").add(PART.job("a").key("k", KeyRule.REPLACE)))
                .withMessageContaining("KEEP");
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(() -> reprise.batch("nothing").state())
                .withMessageContaining("'nothing' does not exist");
        assertThat(ran).isEmpty();
    }

    @Test
    void a_second_close_changes_nothing() {
        Batch batch = batch().add(PART.job("a"));
        BatchState closed = batch.close();
        clock.advance(Duration.ofMinutes(1));
        assertThatExceptionOfType(RefusedException.class)
                .isThrownBy(reprise.batch("import-7")::close)
                .withMessageContaining("closed before, at " + closed.closedAt());
        assertThat(batch.state()).isEqualTo(closed);
        worker.runDue();
        assertThat(ran).containsExactlyInAnyOrder("a", "success", "end");
    }

    @Test
    void a_name_leads_to_the_batch_that_is_there() {
        batch().add(PART.job("a"));
        reprise.batch("import-7").add(PART.job("b")).close();
        worker.runDue();
        assertThat(ran).containsExactlyInAnyOrder("a", "b", "success", "end");
    }

    @Test
    void the_job_for_the_end_says_why_it_waits() {
        JobId end = batch().add(PART.job("a")).state().onEnd();
        assertThat(reprise.find(end).orElseThrow().status().waitReason()).isEqualTo(WaitReason.BATCH);
        assertThat(reprise.explain(end).sentence()).contains("waits until all jobs of a batch have ended");
    }

    @Test
    void a_join_returns_the_results_in_order_after_one_wake() {
        parcels = IntStream.range(0, 1_234).mapToObj(Integer::toString).toList();
        JobId id = reprise.enqueue(ORDER.job("order"));
        worker.runDue();
        assertThat(joined).hasSize(1);
        assertThat(joined.get(0)).hasSize(1_234);
        assertThat(joined.get(0).get(1_233)).isEqualTo("label of 1233");
        Job job = reprise.find(id).orElseThrow();
        assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(job.counts().snoozes()).isOne();
        assertThat(ran).hasSize(1_234);
        assertThat(reprise.steps(id).get(0).state()).isEqualTo(StoredStep.State.DONE);
        assertThat(reprise.batches("", 10, null).items()).isEmpty();
    }

    @Test
    void a_join_is_not_done_again_by_later_runs() {
        reprise.enqueue(ORDER.job("twice"));
        worker.advance(Duration.ofHours(2));
        assertThat(joined).hasSize(2);
        assertThat(joined.get(0)).isEqualTo(joined.get(1));
        assertThat(ran).containsExactly("a", "b", "c");
    }

    @Test
    void a_join_of_nothing_goes_on() {
        parcels = List.of();
        JobId id = reprise.enqueue(ORDER.job("order"));
        worker.runDue();
        assertThat(joined).containsExactly(List.of());
        assertThat(reprise.find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    void a_dead_child_is_named_and_its_retry_lets_the_join_go_on() {
        broken.add("b");
        JobId id = reprise.enqueue(ORDER.job("order"));
        worker.runDue();
        Job dead = reprise.find(id).orElseThrow();
        assertThat(dead.state()).isEqualTo(JobState.FAILED);
        assertThat(dead.status().lastError().message()).contains("number 1 of join labels", "b is broken");
        broken.clear();
        JobId child = reprise.find(JobQuery.all().state(JobState.FAILED).type("part"))
                .items()
                .get(0)
                .id();
        reprise.as("ada", null).retry(child, ManualRetry.NOW.forced());
        worker.runDue();
        reprise.as("ada", null).retry(id, ManualRetry.NOW.forced());
        worker.runDue();
        assertThat(joined).containsExactly(List.of("label of a", "label of b", "label of c"));
    }

    @Test
    void a_parent_that_is_retried_too_early_waits_again() {
        JobId[] id = new JobId[1];
        broken.add("b");
        id[0] = reprise.enqueue(ORDER.job("order"));
        worker.runDue();
        broken.clear();
        JobId child = reprise.find(JobQuery.all().state(JobState.FAILED).type("part"))
                .items()
                .get(0)
                .id();
        reprise.as("ada", null)
                .retry(child, ManualRetry.NOW.forced().at(clock.instant().plusSeconds(60)));
        reprise.as("ada", null).retry(id[0], ManualRetry.NOW.forced());
        worker.runDue();
        assertThat(reprise.find(id[0]).orElseThrow().status().waitReason()).isEqualTo(WaitReason.BATCH);
        worker.advance(Duration.ofMinutes(2));
        assertThat(joined).hasSize(1);
    }

    @Test
    void children_with_keys_and_joins_in_steps_are_refused() {
        List<String> errors = new ArrayList<>();
        JobType<String> bad = JobType.of("bad", String.class).retry(EXACT);
        ManualClock time = new ManualClock();
        try (InlineWorker other = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(time))
                        .codec(new TextCodec())
                        .handle(bad, (name, job) -> {
                            if (name.equals("key")) {
                                job.join("labels", List.of(PART.job("a").key("k")), String.class);
                            } else if (name.equals("step")) {
                                job.step("outer", () -> job.join("labels", List.of(PART.job("a")), String.class));
                            } else {
                                try {
                                    job.join(
                                            "labels",
                                            PART.jobs(IntStream.range(0, 10_001)
                                                    .mapToObj(Integer::toString)
                                                    .toList()),
                                            String.class);
                                } catch (StepFailedException e) {
                                    throw new AssertionError(e);
                                }
                            }
                        }),
                time)) {
            for (String name : List.of("key", "step", "many")) {
                JobId id = other.reprise().enqueue(bad.job(name).retry(EXACT.maxAttempts(1)));
                other.advance(Duration.ofMinutes(1));
                errors.add(other.reprise()
                        .find(id)
                        .orElseThrow()
                        .status()
                        .lastError()
                        .message());
            }
            assertThat(other.reprise().find(JobQuery.all().type(PART.name())).items())
                    .isEmpty();
        }
        assertThat(errors.get(0)).contains("has a key");
        assertThat(errors.get(1))
                .containsPattern("BatchTest.java:\\d+ begins inside step outer at BatchTest.java:\\d+");
        assertThat(errors.get(2)).contains("10001 jobs");
    }
}
