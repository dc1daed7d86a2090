// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.AuditEntry;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.store.Claim;
import io.reprise.store.Requeue;
import io.reprise.store.RequeueResult;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Operations on many jobs in one call have the effect of an operation on each job alone. */
public interface BulkContract extends StoreFixture {

    JobId NOBODY = new JobId(Long.MAX_VALUE - 1);

    private List<JobId> deadLetters(int count) {
        List<JobId> ids = add(TestJobs.many(count));
        Claim claim = claimOne(TestClaims.upTo(count));
        store().settle(
                        claim.jobs().stream()
                                .map(job -> TestSettlements.fail(claim, job))
                                .toList(),
                        List.of());
        return ids;
    }

    private static Requeue replay(@Nullable Duration window) {
        return new Requeue("replay", Duration.ZERO, window, true, 0, Requeue.Edit.NONE);
    }

    @Test
    default void many_dead_letters_are_put_back_each_as_told() {
        List<JobId> ids = deadLetters(5);
        Map<JobId, Requeue> requeues = new LinkedHashMap<>();
        requeues.put(ids.get(0), replay(null));
        requeues.put(ids.get(1), replay(Duration.ofHours(1)));
        requeues.put(ids.get(2), new Requeue("replay", Duration.ofHours(1), null, false, 2, Requeue.Edit.NONE));
        requeues.put(
                ids.get(3),
                new Requeue("replay", Duration.ZERO, null, false, 0, new Requeue.Edit(false, "b", "{\"n\":2}")));
        Map<JobId, RequeueResult> answers = store().requeueAll(requeues, NOTE);
        assertThat(answers).hasSize(4);
        answers.forEach(
                (id, requeued) -> assertThat(requeued).isEqualTo(new RequeueResult(RequeueResult.Result.DONE, id)));
        Job first = read(ids.get(0));
        assertThat(first.state()).isEqualTo(JobState.PENDING);
        assertThat(first.status().waitReason()).isEqualTo(WaitReason.MANUAL);
        assertThat(first.counts()).isEqualTo(JobCounts.NONE);
        assertThat(first.times().deadline()).isNull();
        assertThat(read(ids.get(1)).times().deadline())
                .isEqualTo(read(ids.get(1)).times().firstDueAt().plus(Duration.ofHours(1)));
        assertThat(read(ids.get(2)).counts().granted()).isEqualTo(2);
        assertThat(read(ids.get(2)).attempts()).isEqualTo(1);
        assertThat(read(ids.get(3)).queue()).isEqualTo("b");
        assertThat(read(ids.get(3)).spec().payload()).isEqualTo("{\"n\":2}");
        assertThat(read(ids.get(4)).state()).isEqualTo(JobState.FAILED);
        assertThat(count("default", JobState.FAILED)).isEqualTo(1);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10).from("default", "b"))))
                .containsExactlyInAnyOrder(ids.get(0), ids.get(1), ids.get(3));
        assertThat(store().audit(ids.get(3), 10)).singleElement().satisfies(entry -> {
            assertThat(entry.action()).isEqualTo("replay");
            assertThat(entry.note()).isEqualTo(NOTE);
            assertThat(entry.detail()).contains("to queue b");
        });
    }

    @Test
    default void of_many_those_that_cannot_be_put_back_are_refused_each_with_its_reason() {
        JobId dead = deadLetter(TestJobs.spec("dead"));
        JobId taken = deadLetter(TestJobs.spec("dead").key("k", KeyRule.KEEP));
        add(TestJobs.spec("holder").key("k", KeyRule.KEEP).delay(Duration.ofHours(1)));
        JobId renewed = deadLetter(TestJobs.spec("dead"));
        JobId pending = add(TestJobs.spec("work").delay(Duration.ofHours(1)));
        Map<JobId, Requeue> requeues = new LinkedHashMap<>();
        for (JobId id : List.of(dead, taken, pending, NOBODY)) {
            requeues.put(id, replay(null));
        }
        requeues.put(renewed, new Requeue("replay", Duration.ZERO, null, true, 0, new Requeue.Edit(true, null, null)));
        Map<JobId, RequeueResult> answers = store().requeueAll(requeues, NOTE);
        assertThat(answers.get(dead)).isEqualTo(new RequeueResult(RequeueResult.Result.DONE, dead));
        assertThat(answers.get(taken)).isEqualTo(new RequeueResult(RequeueResult.Result.KEY_TAKEN, null));
        assertThat(answers.get(pending)).isEqualTo(new RequeueResult(RequeueResult.Result.DONE, pending));
        assertThat(answers.get(NOBODY)).isEqualTo(new RequeueResult(RequeueResult.Result.MISSING, null));
        assertThat(Objects.requireNonNull(answers.get(renewed)).id())
                .isNotNull()
                .isNotEqualTo(renewed);
        assertThat(read(taken).state()).isEqualTo(JobState.FAILED);
        assertThat(read(pending).status().waitReason()).isEqualTo(WaitReason.MANUAL);
    }

    @Test
    default void many_are_cancelled_and_what_follows_them_is_stored() {
        List<JobId> ids = add(TestJobs.many(4));
        Claim claim = claimOne(TestClaims.upTo(1));
        JobId running = only(claim).id();
        Map<JobId, Cancellation> answers = store().cancelAll(
                        List.of(ids.get(0), ids.get(1), ids.get(2), NOBODY),
                        NOTE,
                        job -> List.of(TestJobs.spec("follow").queue("after").build()));
        assertThat(answers)
                .containsEntry(running, Cancellation.REQUESTED)
                .containsEntry(NOBODY, Cancellation.MISSING)
                .hasSize(4);
        assertThat(answers.values()).filteredOn(Cancellation.DONE::equals).hasSize(2);
        assertThat(count("default", JobState.CANCELLED)).isEqualTo(2);
        assertThat(count("after", JobState.PENDING)).isEqualTo(2);
        assertThat(read(ids.get(3)).state()).isEqualTo(JobState.PENDING);
        assertThat(store().cancelAll(List.of(ids.get(1)), NOTE, job -> List.<JobSpec>of()))
                .containsEntry(ids.get(1), Cancellation.TOO_LATE);
        assertThat(store().audit(ids.get(1), 10)).extracting(AuditEntry::action).containsExactly("cancel");
    }

    @Test
    default void many_that_ended_are_discarded_and_the_others_stay() {
        List<JobId> ids = deadLetters(3);
        JobId pending = add(TestJobs.spec("work"));
        assertThat(store().discardAll(List.of(ids.get(0), ids.get(2), pending, NOBODY), NOTE))
                .isEqualTo(Set.of(ids.get(0), ids.get(2)));
        assertThat(store().find(JobQuery.all()).items())
                .extracting(Job::id)
                .containsExactlyInAnyOrder(ids.get(1), pending);
        assertThat(store().attempts(ids.get(0))).isEmpty();
        assertThat(count("default", JobState.FAILED)).isEqualTo(1);
        assertThat(store().audit(ids.get(0), 10)).extracting(AuditEntry::action).containsExactly("discard");
        assertThat(store().audit(pending, 10)).isEmpty();
    }

    @Test
    default void many_jobs_are_read_at_once() {
        List<JobId> ids = deadLetters(2);
        JobId pending = add(TestJobs.spec("work"));
        assertThat(store().findAll(List.of(ids.get(1), NOBODY, pending)))
                .containsExactlyInAnyOrder(read(ids.get(1)), read(pending));
    }

    @Test
    default void of_two_who_put_the_same_dead_letters_back_each_is_put_back_once() {
        List<JobId> ids = deadLetters(40);
        Map<JobId, Requeue> requeues = new LinkedHashMap<>();
        ids.forEach(id -> requeues.put(id, replay(null)));
        Crowd.run(3, person -> store().requeueAll(requeues, NOTE));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(100)))).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(count("default", JobState.FAILED)).isZero();
    }
}
