// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.reprise.failure.FailureClass;
import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.step.Checkpoint;
import io.reprise.step.StepEdit;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.step.StoredStep.Kind;
import io.reprise.step.StoredStep.State;
import io.reprise.step.Telling;
import io.reprise.store.Claim;
import io.reprise.store.CountedAs;
import io.reprise.store.LostClaim;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Steps of jobs: who may write them, how they wait, and when they go. */
public interface StepContract extends StoreFixture {

    /** How long a test's job waits unless somebody wakes it. */
    Duration DAY = Duration.ofDays(1);

    /** Why the tests' steps failed. */
    StoredStep.StepFailure REFUSED = new StoredStep.StepFailure(
            FailReason.PERMANENT, FailureClass.PERMANENT, "card.Refused", "no 'cover' \u00e4");

    private Checkpoint.Answer checkpoint(Claim claim, StepWrite step) {
        return checkpoint(only(claim).id(), claim.token(), step);
    }

    private Checkpoint.Answer checkpoint(JobId job, long token, StepWrite step) {
        return store().checkpoint(List.of(new Checkpoint(job, token, step))).get(0);
    }

    private List<StoredStep> steps(JobId job) {
        return store().steps(job).steps();
    }

    private StoredStep step(JobId job) {
        assertThat(steps(job)).hasSize(1);
        return steps(job).get(0);
    }

    private static StepWrite done(String name) {
        return StepWrite.done(name, "java.lang.Integer", "17");
    }

    private static Settlement suspension(Claim claim, WaitReason reason, StepWrite step) {
        Duration delay = step.delay() == null ? DAY : step.delay();
        return new Settlement(
                        claim.jobs().get(0).id(),
                        claim.token(),
                        CountedAs.SNOOZE,
                        TestSettlements.RAN,
                        new Settlement.Wait(reason, delay, null),
                        null,
                        new Decision.Snooze(delay))
                .with(step);
    }

    private static StepWrite event() {
        return StepWrite.open("approval", Kind.EVENT, DAY);
    }

    private Telling tell(JobId job, String value) {
        return store().tell(job, "approval", "java.lang.String", value);
    }

    private static AuditNote note() {
        return new AuditNote("ada", "I asked the bank");
    }

    @Test
    default void a_step_is_kept_with_its_value() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        assertThat(steps(id)).isEmpty();
        assertThat(checkpoint(claim, done("charge"))).isEqualTo(Checkpoint.Answer.WRITTEN);
        StoredStep step = step(id);
        assertThat(step.name()).isEqualTo("charge");
        assertThat(step.kind()).isEqualTo(Kind.STEP);
        assertThat(step.state()).isEqualTo(State.DONE);
        assertThat(step.token()).isEqualTo(claim.token());
        assertThat(step.type()).isEqualTo("java.lang.Integer");
        assertThat(step.value()).isEqualTo("17");
        assertThat(step.at()).isAfterOrEqualTo(claim.claimedAt());
        assertThat(step.dueAt()).isNull();
        assertThat(step.failure()).isNull();
        assertThat(store().steps(id).at()).isAfterOrEqualTo(step.at());
    }

    @Test
    default void a_failure_of_a_step_is_kept() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, StepWrite.failed("charge", Kind.STEP, REFUSED));
        assertThat(step(id).state()).isEqualTo(State.FAILED);
        assertThat(step(id).failure()).isEqualTo(REFUSED);
        assertThat(step(id).value()).isNull();
    }

    @Test
    default void steps_come_in_the_order_in_which_they_were_written() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        for (String name : List.of("zeta", "alpha", "mu")) {
            awaitNextInstant();
            checkpoint(claim, done(name));
        }
        assertThat(steps(id)).extracting(StoredStep::name).containsExactly("zeta", "alpha", "mu");
    }

    @Test
    default void a_value_may_be_as_long_as_a_step_allows() {
        JobId id = add(TestJobs.spec("order"));
        String value = "\"" + "x'\u00e4".repeat(60_000) + "\"";
        checkpoint(claimOne(), StepWrite.done("long", "java.lang.String", value));
        assertThat(step(id).value()).isEqualTo(value);
    }

    @Test
    default void a_step_may_have_no_value() {
        JobId id = add(TestJobs.spec("order"));
        assertThat(checkpoint(claimOne(), StepWrite.done("reserve", null, null)))
                .isEqualTo(Checkpoint.Answer.WRITTEN);
        assertThat(step(id).value()).isNull();
        assertThat(step(id).type()).isNull();
    }

    @Test
    default void a_run_that_was_taken_over_writes_no_step() {
        JobId id = add(TestJobs.spec("order"));
        Claim lost = claimAndDie("old", 1);
        LostClaim taken = takeOver("new");
        assertThat(checkpoint(lost, done("charge"))).isEqualTo(Checkpoint.Answer.STALE);
        assertThat(steps(id)).isEmpty();
        assertThat(checkpoint(id, taken.claim().token(), done("charge"))).isEqualTo(Checkpoint.Answer.WRITTEN);
    }

    @Test
    default void a_run_that_has_ended_writes_no_step() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        settle(TestSettlements.retry(claim, only(claim), DAY));
        assertThat(checkpoint(claim, done("charge"))).isEqualTo(Checkpoint.Answer.STALE);
        assertThat(checkpoint(id, claim.token() + 1, done("charge"))).isEqualTo(Checkpoint.Answer.STALE);
        JobId other = add(TestJobs.spec("other"));
        Claim second = claimOne();
        succeed(second);
        assertThat(checkpoint(other, second.token(), done("charge"))).isEqualTo(Checkpoint.Answer.STALE);
        assertThat(steps(id)).isEmpty();
        assertThat(steps(other)).isEmpty();
    }

    @Test
    default void a_token_of_another_job_writes_no_step() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        JobId other = add(TestJobs.spec("other"));
        claimOne();
        assertThat(checkpoint(other, claim.token(), done("charge"))).isEqualTo(Checkpoint.Answer.STALE);
        assertThat(steps(other)).isEmpty();
        assertThat(steps(id)).isEmpty();
    }

    @Test
    default void writing_a_step_again_is_harmless() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("charge"));
        StoredStep first = step(id);
        awaitNextInstant();
        assertThat(checkpoint(claim, done("charge"))).isEqualTo(Checkpoint.Answer.WRITTEN);
        assertThat(step(id).value()).isEqualTo(first.value());
    }

    @Test
    default void another_content_under_a_name_is_refused() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("charge"));
        StepWrite other = StepWrite.done("charge", "java.lang.Integer", "18");
        assertThat(checkpoint(claim, other)).isEqualTo(Checkpoint.Answer.OTHER);
        assertThat(checkpoint(claim, other.replacing())).isEqualTo(Checkpoint.Answer.OTHER);
        assertThat(step(id).value()).isEqualTo("17");
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        assertThat(checkpoint(claimOne(), done("charge"))).isEqualTo(Checkpoint.Answer.OTHER);
    }

    @Test
    default void a_start_gives_way_to_its_end() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        assertThat(checkpoint(claim, StepWrite.started("charge"))).isEqualTo(Checkpoint.Answer.WRITTEN);
        assertThat(step(id).state()).isEqualTo(State.STARTED);
        assertThat(checkpoint(claim, done("charge").replacing())).isEqualTo(Checkpoint.Answer.WRITTEN);
        assertThat(step(id).state()).isEqualTo(State.DONE);
        assertThat(step(id).value()).isEqualTo("17");
        assertThat(checkpoint(claim, done("charge").replacing())).isEqualTo(Checkpoint.Answer.WRITTEN);
    }

    @Test
    default void one_call_answers_for_each_of_its_steps() {
        List<JobId> ids = add(IntStream.range(0, 5)
                .mapToObj(i -> TestJobs.spec("order").build())
                .toList());
        Claim claim = claimOne(TestClaims.upTo(3));
        List<Checkpoint> batch = new ArrayList<>();
        ids.forEach(id -> batch.add(new Checkpoint(id, claim.token(), done("charge"))));
        List<Checkpoint.Answer> answers = store().checkpoint(batch);
        for (int i = 0; i < ids.size(); i++) {
            boolean held = claim.jobs().stream().map(Job::id).toList().contains(ids.get(i));
            assertThat(answers.get(i)).isEqualTo(held ? Checkpoint.Answer.WRITTEN : Checkpoint.Answer.STALE);
            assertThat(steps(ids.get(i))).hasSize(held ? 1 : 0);
        }
        assertThat(store().checkpoint(List.of())).isEmpty();
    }

    @Test
    default void a_new_step_grants_attempts_and_never_takes_any() {
        JobId id = add(TestJobs.spec("order"));
        Claim first = claimOne();
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        Claim claim = claimOne();
        checkpoint(claim, done("charge").granting(1));
        assertThat(read(id).counts().granted()).isEqualTo(1);
        checkpoint(claim, done("reserve").granting(0));
        assertThat(read(id).counts().granted()).isEqualTo(1);
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        Claim last = claimOne();
        settle(suspension(
                last, WaitReason.SLEEP, StepWrite.open("night", Kind.SLEEP, DAY).granting(2)));
        assertThat(read(id).counts().granted()).isEqualTo(2);
    }

    @Test
    default void a_stale_step_grants_nothing() {
        JobId id = add(TestJobs.spec("order"));
        Claim lost = claimAndDie("old", 1);
        takeOver("new");
        checkpoint(lost, done("charge").granting(7));
        assertThat(read(id).counts().granted()).isZero();
    }

    @Test
    default void a_sleep_is_written_with_the_outcome() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        Settled settled = settle(suspension(claim, WaitReason.SLEEP, StepWrite.open("night", Kind.SLEEP, DAY)));
        Job job = read(id);
        assertThat(job.state()).isEqualTo(JobState.PENDING);
        assertThat(job.status().waitReason()).isEqualTo(WaitReason.SLEEP);
        assertThat(job.times().dueAt()).isEqualTo(settled.at().plus(DAY));
        assertThat(step(id).state()).isEqualTo(State.OPEN);
        assertThat(step(id).kind()).isEqualTo(Kind.SLEEP);
        assertThat(step(id).suspensions()).isEqualTo(1);
        assertThat(step(id).dueAt())
                .isBetween(claim.claimedAt().plus(DAY), store().now().plus(DAY));
        assertThat(claim(TestClaims.upTo(1))).isEmpty();
    }

    @Test
    default void a_stale_outcome_writes_no_step() {
        JobId id = add(TestJobs.spec("order"));
        Claim lost = claimAndDie("old", 1);
        takeOver("new");
        Settled settled = settle(suspension(lost, WaitReason.SLEEP, StepWrite.open("night", Kind.SLEEP, DAY)));
        assertThat(settled.stale()).containsExactly(id);
        assertThat(steps(id)).isEmpty();
    }

    @Test
    default void a_cancelled_job_does_not_begin_to_sleep() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        store().cancel(id, note());
        settle(suspension(claim, WaitReason.SLEEP, StepWrite.open("night", Kind.SLEEP, DAY)));
        assertThat(read(id).state()).isEqualTo(JobState.CANCELLED);
        assertThat(steps(id)).isEmpty();
    }

    @Test
    default void a_second_suspension_keeps_the_due_time() {
        JobId id = add(TestJobs.spec("order"));
        settle(suspension(claimOne(), WaitReason.SLEEP, StepWrite.open("night", Kind.SLEEP, DAY)));
        StoredStep first = step(id);
        retryByHand(id);
        Claim claim = claimOne();
        settle(suspension(claim, WaitReason.SLEEP, StepWrite.again("night", Kind.SLEEP, 2)));
        assertThat(step(id).dueAt()).isEqualTo(first.dueAt());
        assertThat(step(id).suspensions()).isEqualTo(2);
    }

    private void retryByHand(JobId id) {
        store().requeue(id, new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE), note());
    }

    @Test
    default void an_event_wakes_the_job_that_waits_for_it() {
        JobId id = add(TestJobs.spec("order"));
        settle(suspension(claimOne(), WaitReason.EVENT, event()));
        assertThat(claim(TestClaims.upTo(1))).isEmpty();
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.TOLD);
        Claim claim = claimOne();
        assertThat(only(claim).id()).isEqualTo(id);
        assertThat(step(id).state()).isEqualTo(State.DONE);
        assertThat(step(id).kind()).isEqualTo(Kind.EVENT);
        assertThat(step(id).value()).isEqualTo("\"yes\"");
        assertThat(step(id).type()).isEqualTo("java.lang.String");
    }

    @Test
    default void an_event_may_come_before_the_job_waits() {
        JobId id = add(TestJobs.spec("order"));
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.TOLD);
        Claim claim = claimOne();
        settle(suspension(claim, WaitReason.EVENT, event()));
        assertThat(step(id).value()).isEqualTo("\"yes\"");
        assertThat(only(claimOne()).id()).isEqualTo(id);
    }

    @Test
    default void an_event_may_come_while_the_job_runs() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.TOLD);
        settle(suspension(claim, WaitReason.EVENT, event()));
        assertThat(only(claimOne()).id()).isEqualTo(id);
        assertThat(step(id).state()).isEqualTo(State.DONE);
    }

    @Test
    default void a_wait_for_an_event_that_came_before_grants_attempts_too() {
        JobId id = add(TestJobs.spec("order"));
        Claim first = claimOne();
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        Claim claim = claimOne();
        tell(id, "\"yes\"");
        settle(suspension(claim, WaitReason.EVENT, event().granting(1)));
        assertThat(read(id).counts().granted()).isEqualTo(1);
    }

    @Test
    default void an_event_that_nobody_waits_for_wakes_nobody() {
        JobId id = add(TestJobs.spec("order"));
        settle(suspension(claimOne(), WaitReason.SLEEP, StepWrite.open("night", Kind.SLEEP, DAY)));
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.TOLD);
        assertThat(claim(TestClaims.upTo(1))).isEmpty();
        JobId other = add(TestJobs.spec("order"));
        settle(suspension(claimOne(), WaitReason.EVENT, event()));
        assertThat(store().tell(other, "payment", "java.lang.String", "\"yes\""))
                .isEqualTo(Telling.TOLD);
        assertThat(claim(TestClaims.upTo(1))).isEmpty();
    }

    @Test
    default void the_first_event_of_a_name_stays() {
        JobId id = add(TestJobs.spec("order"));
        tell(id, "\"yes\"");
        assertThat(tell(id, "\"no\"")).isEqualTo(Telling.ALREADY_TOLD);
        assertThat(step(id).value()).isEqualTo("\"yes\"");
    }

    @Test
    default void an_event_that_came_too_late_is_not_stored() {
        JobId id = add(TestJobs.spec("order"));
        settle(suspension(claimOne(), WaitReason.EVENT, StepWrite.open("approval", Kind.EVENT, Duration.ZERO)));
        List<Claim> claims = new ArrayList<>();
        await(() -> claims.addAll(claim(TestClaims.upTo(1))));
        assertThat(checkpoint(
                        id,
                        claims.get(0).token(),
                        StepWrite.failed("approval", Kind.EVENT, REFUSED).replacing()))
                .isEqualTo(Checkpoint.Answer.WRITTEN);
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.ALREADY_TOLD);
        assertThat(step(id).failure()).isEqualTo(REFUSED);
    }

    @Test
    default void an_event_needs_a_live_job_and_a_name_of_its_own() {
        assertThat(tell(new JobId(4_711), "\"yes\"")).isEqualTo(Telling.MISSING);
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("approval"));
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.NOT_AN_EVENT);
        succeed(claim);
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.ENDED);
        assertThat(tell(deadLetter(TestJobs.spec("dead")), "\"yes\"")).isEqualTo(Telling.ENDED);
        assertThat(step(id).value()).isEqualTo("17");
    }

    @Test
    default void a_job_takes_no_more_events_than_its_limit() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        List<Checkpoint> many = new ArrayList<>();
        for (int i = 0; i < StoredStep.MAX_STEPS; i++) {
            many.add(new Checkpoint(id, claim.token(), StepWrite.done("s" + i, null, null)));
        }
        assertThat(store().checkpoint(many)).containsOnly(Checkpoint.Answer.WRITTEN);
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.FULL);
        assertThat(steps(id)).hasSize(StoredStep.MAX_STEPS);
    }

    @Test
    default void a_job_takes_no_more_bytes_of_events_than_its_limit() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        // Three bytes for each character: all of them together are fewer characters than the limit has bytes.
        String most = "\u20ac".repeat(StoredStep.MAX_VALUE_BYTES / 3);
        for (int i = 0; i < StoredStep.MAX_JOB_BYTES / StoredStep.MAX_VALUE_BYTES; i++) {
            assertThat(checkpoint(claim, StepWrite.done("s" + i, "text", most))).isEqualTo(Checkpoint.Answer.WRITTEN);
        }
        assertThat(tell(id, "\u20ac".repeat(11))).isEqualTo(Telling.FULL);
        assertThat(tell(id, "\u20ac".repeat(10))).isEqualTo(Telling.TOLD);
    }

    @Test
    default void no_event_is_lost_between_looking_and_waiting() {
        for (int round = 0; round < 20; round++) {
            JobId id = add(TestJobs.spec("order"));
            Claim claim = claimOne();
            AtomicReference<Telling> told = new AtomicReference<>();
            Crowd.run(2, number -> {
                if (number == 0) {
                    settle(suspension(claim, WaitReason.EVENT, event()));
                } else {
                    told.set(tell(id, "\"yes\""));
                }
            });
            assertThat(told.get()).isEqualTo(Telling.TOLD);
            Claim woken = claimOne();
            assertThat(only(woken).id()).isEqualTo(id);
            assertThat(step(id).state()).isEqualTo(State.DONE);
            succeed(woken);
        }
    }

    @Test
    default void of_a_step_and_a_take_over_one_comes_first() {
        for (int round = 0; round < 20; round++) {
            JobId id = add(TestJobs.spec("order"));
            Claim lost = claimAndDie("old", 1);
            awaitNextInstant();
            AtomicReference<Checkpoint.Answer> written = new AtomicReference<>();
            List<LostClaim> taken = new ArrayList<>();
            Crowd.run(2, number -> {
                if (number == 0) {
                    written.set(checkpoint(lost, done("charge")));
                } else {
                    taken.addAll(store().takeOver("new", TestClaims.LONG, 10));
                }
            });
            await(() -> !taken.isEmpty() || taken.addAll(store().takeOver("new", TestClaims.LONG, 10)));
            boolean there = !steps(id).isEmpty();
            assertThat(written.get()).isEqualTo(there ? Checkpoint.Answer.WRITTEN : Checkpoint.Answer.STALE);
            succeed(taken.get(0).claim());
        }
    }

    @Test
    default void many_runs_write_their_steps_at_once() {
        int runs = 8;
        List<JobId> ids = add(IntStream.range(0, runs)
                .mapToObj(i -> TestJobs.spec("order").build())
                .toList());
        Claim claim = claimOne(TestClaims.upTo(runs));
        Crowd.run(runs, number -> {
            for (int i = 0; i < 10; i++) {
                assertThat(checkpoint(ids.get(number), claim.token(), done("s" + i)))
                        .isEqualTo(Checkpoint.Answer.WRITTEN);
            }
        });
        ids.forEach(id -> assertThat(steps(id)).hasSize(10));
    }

    @Test
    default void a_retry_by_hand_forgets_what_failed_and_keeps_the_rest() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("charge"));
        checkpoint(claim, StepWrite.failed("ship", Kind.STEP, REFUSED));
        checkpoint(claim, StepWrite.started("print"));
        settle(TestSettlements.fail(claim, only(claim)));
        assertThat(steps(id)).hasSize(3);
        retryByHand(id);
        assertThat(steps(id)).extracting(StoredStep::name).containsExactlyInAnyOrder("charge", "print");
    }

    @Test
    default void a_bulk_retry_forgets_what_failed_too() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("charge"));
        checkpoint(claim, StepWrite.failed("ship", Kind.STEP, REFUSED));
        settle(TestSettlements.fail(claim, only(claim)));
        Requeue requeue = new Requeue("retry", Duration.ZERO, null, false, 0, Requeue.Edit.NONE);
        store().requeueAll(Map.of(id, requeue), note());
        assertThat(step(id).name()).isEqualTo("charge");
    }

    @Test
    default void a_replay_under_a_new_id_has_no_steps() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("charge"));
        settle(TestSettlements.fail(claim, only(claim)));
        Requeue.Edit edit = new Requeue.Edit(true, null, null);
        JobId now = store().requeue(id, new Requeue("replay", Duration.ZERO, null, true, 0, edit), note())
                .id();
        assertThat(now).isNotEqualTo(id);
        assertThat(steps(id)).isEmpty();
        assertThat(steps(Objects.requireNonNull(now))).isEmpty();
    }

    @Test
    default void steps_stay_with_an_ended_job_and_go_with_it() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("charge"));
        succeed(claim);
        assertThat(steps(id)).hasSize(1);
        awaitNextInstant();
        store().prune(Set.of(JobState.SUCCEEDED), Duration.ZERO, 10);
        assertThat(store().find(id)).isEmpty();
        assertThat(steps(id)).isEmpty();
        JobId dead = add(TestJobs.spec("order"));
        Claim second = claimOne();
        checkpoint(second, done("charge"));
        settle(TestSettlements.fail(second, only(second)));
        assertThat(steps(dead)).hasSize(1);
        assertThat(store().discard(dead, note())).isTrue();
        assertThat(steps(dead)).isEmpty();
    }

    @Test
    default void a_job_that_is_replaced_forgets_its_steps() {
        JobId id = add(TestJobs.spec("order").key("order-1", KeyRule.KEEP));
        settle(suspension(claimOne(), WaitReason.SLEEP, StepWrite.open("night", Kind.SLEEP, DAY)));
        assertThat(steps(id)).hasSize(1);
        assertThat(add(TestJobs.spec("order").key("order-1", KeyRule.REPLACE))).isEqualTo(id);
        assertThat(steps(id)).isEmpty();
    }

    @Test
    default void a_person_can_forget_steps() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        for (String name : List.of("one", "two", "three", "four")) {
            checkpoint(claim, done(name));
            awaitNextInstant();
        }
        assertThat(store().editSteps(id, new StepEdit.Forget("one"), note())).isEqualTo(StepEdit.Result.RUNNING);
        settle(TestSettlements.fail(claim, only(claim)));
        assertThat(store().editSteps(id, new StepEdit.Forget("none"), note())).isEqualTo(StepEdit.Result.NO_STEP);
        assertThat(store().editSteps(id, new StepEdit.Forget("one"), note())).isEqualTo(StepEdit.Result.DONE);
        assertThat(steps(id)).extracting(StoredStep::name).containsExactly("two", "three", "four");
        assertThat(store().editSteps(id, new StepEdit.ForgetFrom("three"), note()))
                .isEqualTo(StepEdit.Result.DONE);
        assertThat(steps(id)).extracting(StoredStep::name).containsExactly("two");
        assertThat(store().editSteps(id, new StepEdit.ForgetAll(), note())).isEqualTo(StepEdit.Result.DONE);
        assertThat(steps(id)).isEmpty();
        assertThat(store().editSteps(new JobId(4_711), new StepEdit.ForgetAll(), note()))
                .isEqualTo(StepEdit.Result.MISSING);
        assertThat(store().audit(id, 10))
                .extracting(AuditEntry::action)
                .containsExactly("forget-step", "forget-step", "forget-step");
    }

    @Test
    default void a_person_can_say_how_a_step_ended() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, StepWrite.started("charge"));
        settle(TestSettlements.fail(claim, only(claim)));
        StepEdit resolve = new StepEdit.Resolve(done("charge").replacing());
        assertThat(store().editSteps(id, resolve, note())).isEqualTo(StepEdit.Result.DONE);
        assertThat(step(id).state()).isEqualTo(State.DONE);
        assertThat(step(id).value()).isEqualTo("17");
        assertThat(store().audit(id, 10)).extracting(AuditEntry::action).containsExactly("resolve-step");
    }

    @Test
    default void a_person_can_correct_what_a_person_said_and_nothing_that_a_run_stored() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("reserve"));
        checkpoint(claim, StepWrite.started("charge"));
        settle(TestSettlements.fail(claim, only(claim)));
        assertThat(store().editSteps(id, resolved(StepWrite.done("charge", "text", "18")), note()))
                .isEqualTo(StepEdit.Result.DONE);
        assertThat(store().editSteps(id, resolved(done("charge")), note())).isEqualTo(StepEdit.Result.DONE);
        assertThat(steps(id)).extracting(StoredStep::value).containsExactly("17", "17");
        StepWrite failed = StepWrite.failed("charge", Kind.STEP, REFUSED);
        assertThat(store().editSteps(id, resolved(failed), note())).isEqualTo(StepEdit.Result.DONE);
        assertThat(steps(id))
                .extracting(StoredStep::name, StoredStep::state, StoredStep::value)
                .containsExactlyInAnyOrder(tuple("reserve", State.DONE, "17"), tuple("charge", State.FAILED, null));
        assertThat(store().editSteps(id, resolved(done("reserve")), note())).isEqualTo(StepEdit.Result.NO_STEP);
        assertThat(store().requeue(id, resolving(new StepEdit.Repeat("charge")), note())
                        .result())
                .isEqualTo(RequeueResult.Result.DONE);
        assertThat(steps(id)).extracting(StoredStep::name).containsExactly("reserve");
    }

    private static StepEdit resolved(StepWrite step) {
        return new StepEdit.Resolve(step.replacing());
    }

    @Test
    default void a_person_says_how_a_step_ended_and_the_job_goes_on_in_one_step() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, StepWrite.failed("reserve", Kind.STEP, REFUSED));
        checkpoint(claim, StepWrite.started("charge"));
        settle(TestSettlements.fail(claim, only(claim)));
        Requeue resolve = resolving(new StepEdit.Resolve(done("charge").replacing()));
        assertThat(store().requeue(id, resolve, note()).result()).isEqualTo(RequeueResult.Result.DONE);
        assertThat(read(id).state()).isEqualTo(JobState.PENDING);
        assertThat(steps(id))
                .extracting(StoredStep::name, StoredStep::state)
                .as("a failure that the handler knows stays")
                .containsExactlyInAnyOrder(tuple("reserve", State.FAILED), tuple("charge", State.DONE));
        assertThat(store().audit(id, 10))
                .extracting(AuditEntry::action)
                .containsExactlyInAnyOrder("resolve-step", "retry");
    }

    @Test
    default void a_step_that_has_started_runs_again_if_a_person_says_so() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("reserve"));
        checkpoint(claim, StepWrite.started("charge"));
        assertThat(store().requeue(id, resolving(new StepEdit.Repeat("charge")), note())
                        .result())
                .isEqualTo(RequeueResult.Result.NOT_WAITING);
        settle(TestSettlements.fail(claim, only(claim)));
        for (String name : List.of("reserve", "none")) {
            assertThat(store().requeue(id, resolving(new StepEdit.Repeat(name)), note())
                            .result())
                    .isEqualTo(RequeueResult.Result.NO_STEP);
        }
        assertThat(read(id).state()).isEqualTo(JobState.FAILED);
        assertThat(steps(id)).hasSize(2);
        assertThat(store().requeue(id, resolving(new StepEdit.Repeat("charge")), note())
                        .result())
                .isEqualTo(RequeueResult.Result.DONE);
        assertThat(steps(id)).extracting(StoredStep::name).containsExactly("reserve");
        assertThat(only(claimOne()).id()).isEqualTo(id);
    }

    @Test
    default void a_step_stays_unresolved_if_its_job_cannot_come_back() {
        JobId id = add(TestJobs.spec("order").key("k", KeyRule.REJECT));
        Claim claim = claimOne();
        checkpoint(claim, StepWrite.started("charge"));
        settle(TestSettlements.fail(claim, only(claim)));
        add(TestJobs.spec("order").key("k", KeyRule.REJECT));
        Requeue resolve = resolving(new StepEdit.Resolve(done("charge").replacing()));
        assertThat(store().requeue(id, resolve, note()).result()).isEqualTo(RequeueResult.Result.KEY_TAKEN);
        assertThat(step(id).state()).isEqualTo(State.STARTED);
        assertThat(read(id).state()).isEqualTo(JobState.FAILED);
    }

    private static Requeue resolving(StepEdit edit) {
        return new Requeue("retry", Duration.ZERO, null, false, 0, new Requeue.Edit(edit));
    }

    @Test
    default void a_job_whose_awaited_event_is_forgotten_begins_a_new_wait() {
        for (StepEdit forget :
                List.of(new StepEdit.Forget("approval"), new StepEdit.ForgetFrom("first"), new StepEdit.ForgetAll())) {
            JobId id = add(TestJobs.spec("order"));
            Claim claim = claimOne();
            checkpoint(claim, done("first"));
            settle(suspension(claim, WaitReason.EVENT, event()));
            assertThat(store().editSteps(id, forget, note())).isEqualTo(StepEdit.Result.DONE);
            Claim again = claimOne();
            assertThat(only(again).id()).isEqualTo(id);
            settle(suspension(again, WaitReason.EVENT, event()));
            assertThat(claim(TestClaims.upTo(1))).isEmpty();
            assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.TOLD);
            assertThat(only(claimOne()).id()).isEqualTo(id);
        }
    }

    @Test
    default void a_job_stays_asleep_if_another_step_is_forgotten() {
        JobId id = add(TestJobs.spec("order"));
        Claim claim = claimOne();
        checkpoint(claim, done("first"));
        settle(suspension(claim, WaitReason.EVENT, event()));
        assertThat(store().editSteps(id, new StepEdit.Forget("first"), note())).isEqualTo(StepEdit.Result.DONE);
        assertThat(claim(TestClaims.upTo(1))).isEmpty();
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.TOLD);
        assertThat(only(claimOne()).id()).isEqualTo(id);
    }

    @Test
    default void a_job_that_sleeps_can_be_cancelled() {
        JobId id = add(TestJobs.spec("order"));
        settle(suspension(claimOne(), WaitReason.EVENT, event()));
        store().cancel(id, note());
        assertThat(read(id).state()).isEqualTo(JobState.CANCELLED);
        assertThat(tell(id, "\"yes\"")).isEqualTo(Telling.ENDED);
    }
}
