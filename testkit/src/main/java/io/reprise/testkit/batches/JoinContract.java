// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.batches;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.batch.BatchMember;
import io.reprise.batch.Membership;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.retry.Decision;
import io.reprise.step.StepEdit;
import io.reprise.step.StepWrite;
import io.reprise.step.StoredStep;
import io.reprise.store.Claim;
import io.reprise.store.CountedAs;
import io.reprise.store.Requeue;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Joins: a parent that waits for its children. */
public interface JoinContract extends StoreFixture {

    /** How long a parent waits unless its children wake it. */
    Duration AGES = Duration.ofDays(10_000);

    /** The queue of the children. */
    String CHILDREN = "children";

    /** The step of a join. */
    String LABELS = "labels";

    private static String name(Claim parent) {
        return name(parent, LABELS);
    }

    private static String name(Claim parent, String step) {
        return Membership.join(parent.jobs().get(0).id(), step, parent.token());
    }

    /** Returns the settlement of a parent that begins to wait, or waits again. */
    static Settlement join(Claim claim, List<JobSpec> children, boolean again) {
        return join(claim, LABELS, children, again);
    }

    private static Settlement join(Claim claim, String step, List<JobSpec> children, boolean again) {
        StepWrite row = StepWrite.join(step, StoredStep.State.OPEN, "\"" + name(claim, step) + "\"")
                .suspended(1);
        return new Settlement(
                        claim.jobs().get(0).id(),
                        claim.token(),
                        CountedAs.SNOOZE,
                        TestSettlements.RAN,
                        new Settlement.Wait(WaitReason.BATCH, AGES, null),
                        null,
                        new Decision.Snooze(AGES))
                .with(again ? row.replacing() : row)
                .with(new Settlement.FollowUps(children, List.of()));
    }

    /** Returns new children of a parent. */
    static List<JobSpec> children(Claim parent, int count) {
        return children(parent, LABELS, count);
    }

    private static List<JobSpec> children(Claim parent, String step, int count) {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            specs.add(TestJobs.on(CHILDREN).build());
        }
        return Membership.children(parent.jobs().get(0).id(), step, parent.token(), specs);
    }

    /** Suspends a new parent with its children. Returns the claim under which it ran. */
    private Claim suspend(int children) {
        add(TestJobs.spec("order"));
        Claim parent = claimOne();
        assertThat(settle(join(parent, children(parent, children), false)).stale())
                .isEmpty();
        return parent;
    }

    private Claim child() {
        return claimOne(TestClaims.upTo(1).from(CHILDREN));
    }

    private void end(Claim child, boolean well) {
        Job job = only(child);
        int place = Objects.requireNonNull(Membership.in(job.spec())).place();
        settle(BatchContract.counted(
                well ? TestSettlements.success(child, job, "\"r" + place + "\"") : TestSettlements.fail(child, job),
                job));
    }

    private boolean isAsleep() {
        return store().claim(TestClaims.upTo(1).build()).isEmpty();
    }

    @Test
    default void a_parent_is_woken_when_the_last_child_has_ended() {
        Claim parent = suspend(3);
        JobId id = parent.jobs().get(0).id();
        assertThat(read(id).status().waitReason()).isEqualTo(WaitReason.BATCH);
        assertThat(store().steps(id).steps()).extracting(StoredStep::kind).containsExactly(StoredStep.Kind.JOIN);
        assertThat(store().find(JobQuery.all().batch(name(parent))).items()).hasSize(3);
        end(child(), true);
        end(child(), false);
        assertThat(isAsleep()).isTrue();
        end(child(), true);
        assertThat(only(claimOne()).id()).isEqualTo(id);
    }

    @Test
    default void results_are_kept_by_place_even_if_the_children_are_deleted() {
        Claim parent = suspend(3);
        for (int i = 0; i < 3; i++) {
            end(child(), true);
        }
        awaitNextInstant();
        store().prune(Set.of(JobState.SUCCEEDED), Duration.ZERO, 10);
        List<BatchMember> all = store().members(name(parent), Membership.NO_PLACE, 10);
        assertThat(all).extracting(BatchMember::place).containsExactly(0, 1, 2);
        assertThat(all).extracting(BatchMember::result).containsExactly("\"r0\"", "\"r1\"", "\"r2\"");
        assertThat(store().members(name(parent), 0, 1))
                .extracting(BatchMember::place)
                .containsExactly(1);
    }

    @Test
    default void a_dead_child_that_is_retried_has_its_new_end() {
        Claim parent = suspend(1);
        JobId id = parent.jobs().get(0).id();
        Claim child = child();
        end(child, false);
        assertThat(store().members(name(parent), -1, 1).get(0).state()).isEqualTo(JobState.FAILED);
        Claim again = claimOne();
        store().requeue(only(child).id(), BatchContract.AGAIN, NOTE);
        settle(join(again, List.of(), true));
        assertThat(isAsleep()).isTrue();
        end(child(), true);
        assertThat(store().members(name(parent), -1, 1).get(0).state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(only(claimOne()).id()).isEqualTo(id);
    }

    @Test
    default void a_parent_that_waits_again_for_nothing_is_due() {
        suspend(1);
        end(child(), true);
        Claim again = claimOne();
        settle(join(again, List.of(), true));
        assertThat(only(claimOne()).id()).isEqualTo(only(again).id());
    }

    @Test
    default void an_earlier_join_that_is_open_again_holds_no_later_one_up() {
        suspend(1);
        Claim dead = child();
        end(dead, false);
        Claim parent = claimOne();
        settle(join(parent, "bills", children(parent, "bills", 1), false));
        end(child(), true);
        Claim again = claimOne();
        store().requeue(only(dead).id(), BatchContract.AGAIN, NOTE);
        settle(join(again, "bills", List.of(), true));
        assertThat(only(claimOne()).id()).isEqualTo(only(parent).id());
    }

    @Test
    default void no_wake_is_lost_between_looking_and_waiting() {
        for (int round = 0; round < 10; round++) {
            Claim parent = suspend(1);
            JobId id = parent.jobs().get(0).id();
            store().requeue(id, BatchContract.AGAIN, NOTE);
            Claim again = claimOne();
            Claim child = child();
            Crowd.run(2, number -> {
                if (number == 0) {
                    settleUntilTaken(join(again, List.of(), true));
                } else {
                    endUntilTaken(child);
                }
            });
            Claim woken = claimOne();
            assertThat(only(woken).id()).isEqualTo(id);
            succeed(woken);
        }
    }

    private void settleUntilTaken(Settlement settlement) {
        for (int tries = 1; ; tries++) {
            try {
                settle(settlement);
                return;
            } catch (StoreException e) {
                // A deadlock is solved by the database; the engine tries again too.
                assertThat(e.isTransient() && tries < 10).as(e.getMessage()).isTrue();
            }
        }
    }

    private void endUntilTaken(Claim child) {
        settleUntilTaken(BatchContract.counted(TestSettlements.success(child, only(child), "1"), only(child)));
    }

    @Test
    default void a_lost_parent_stores_no_children() {
        add(TestJobs.spec("order"));
        Claim lost = claimAndDie("first", 1);
        await(() -> !store().takeOver("second", TestClaims.LONG, 1).isEmpty());
        assertThat(settle(join(lost, children(lost, 2), false)).stale()).isNotEmpty();
        assertThat(store().claim(TestClaims.upTo(9).from(CHILDREN).build())).isEmpty();
    }

    @Test
    default void children_of_a_join_that_was_forgotten_count_no_more() {
        Claim first = suspend(1);
        JobId id = first.jobs().get(0).id();
        Claim old = child();
        assertThat(store().editSteps(id, new StepEdit.Forget("labels"), NOTE)).isEqualTo(StepEdit.Result.DONE);
        store().requeue(id, BatchContract.AGAIN, NOTE);
        Claim second = claimOne();
        settle(join(second, children(second, 1), false));
        end(old, true);
        assertThat(isAsleep()).isTrue();
        end(child(), true);
        assertThat(only(claimOne()).id()).isEqualTo(id);
        assertThat(store().members(name(second), -1, 9)).hasSize(1);
    }

    @Test
    default void a_parent_whose_join_is_forgotten_waits_no_more() {
        Claim parent = suspend(1);
        assertThat(store().editSteps(only(parent).id(), new StepEdit.Forget(LABELS), NOTE))
                .isEqualTo(StepEdit.Result.DONE);
        assertThat(only(claimOne()).id()).isEqualTo(only(parent).id());
    }

    @Test
    default void a_parent_under_a_new_id_has_no_children() {
        Claim parent = suspend(1);
        Requeue renewed = new Requeue("replay", Duration.ZERO, null, true, 0, new Requeue.Edit(true, null, null));
        JobId id = Objects.requireNonNull(
                store().requeue(parent.jobs().get(0).id(), renewed, NOTE).id());
        assertThat(store().batch(name(parent))).isEmpty();
        end(child(), true);
        assertThat(store().steps(id).steps()).isEmpty();
    }

    @Test
    default void a_join_goes_with_its_parent() {
        Claim parent = suspend(1);
        end(child(), true);
        succeed(claimOne());
        assertThat(store().discard(parent.jobs().get(0).id(), NOTE)).isTrue();
        assertThat(store().batch(name(parent))).isEmpty();
        assertThat(store().members(name(parent), -1, 9)).isEmpty();
    }

    @Test
    default void the_parent_of_many_is_woken_once() {
        int many = 60;
        Claim parent = suspend(many);
        List<Claim> claims = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            claims.add(claimOne(TestClaims.upTo(10).from(CHILDREN)));
        }
        Crowd.run(6, number -> {
            List<Settlement> ends = new ArrayList<>();
            claims.get(number)
                    .jobs()
                    .forEach(job -> ends.add(
                            BatchContract.counted(TestSettlements.success(claims.get(number), job, "1"), job)));
            store().settle(ends, List.of());
        });
        assertThat(store().batch(name(parent)).orElseThrow().open()).isZero();
        Claim woken = claimOne();
        assertThat(only(woken).counts().snoozes()).isOne();
        assertThat(store().members(name(parent), -1, many + 1)).hasSize(many);
    }
}
