// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.store.Claim;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Settings and counts of queues. */
public interface QueueContract extends StoreFixture {

    @Test
    default void counts_follow_every_move_of_a_job() {
        add(TestJobs.many(6));
        Claim claim = claimOne(TestClaims.upTo(5));
        settle(
                TestSettlements.success(claim, claim.jobs().get(0)),
                TestSettlements.fail(claim, claim.jobs().get(1)),
                TestSettlements.cancellation(claim, claim.jobs().get(2)),
                TestSettlements.retry(claim, claim.jobs().get(3), Duration.ofHours(1)));
        QueueState queue = queue("default");
        assertThat(queue.count(JobState.PENDING)).isEqualTo(2);
        assertThat(queue.count(JobState.RUNNING)).isEqualTo(1);
        assertThat(queue.count(JobState.SUCCEEDED)).isEqualTo(1);
        assertThat(queue.count(JobState.FAILED)).isEqualTo(1);
        assertThat(queue.count(JobState.CANCELLED)).isEqualTo(1);
    }

    @Test
    default void live_queues_are_those_with_jobs_that_have_not_ended() {
        assertThat(store().liveQueues()).isEmpty();
        deadLetter(TestJobs.spec("dead"));
        add(TestJobs.on("mail"));
        add(TestJobs.on("mail"));
        add(TestJobs.on("images").delay(Duration.ofDays(1)));
        store().pause("empty", NOTE);
        assertThat(store().liveQueues()).containsExactlyInAnyOrder("images", "mail");
        claimOne(TestClaims.upTo(2).from("mail"));
        assertThat(store().liveQueues()).containsExactlyInAnyOrder("images", "mail");
    }

    @Test
    default void counts_survive_upkeep() {
        add(TestJobs.many(3));
        succeed(claimOne());
        store().maintain();
        assertThat(count("default", JobState.PENDING)).isEqualTo(2);
        assertThat(count("default", JobState.SUCCEEDED)).isEqualTo(1);
        succeed(claimOne());
        store().maintain();
        assertThat(count("default", JobState.SUCCEEDED)).isEqualTo(2);
    }

    @Test
    default void deleted_jobs_are_not_counted() {
        JobId discarded = deadLetter(TestJobs.spec("dead"));
        add(TestJobs.many(2));
        succeed(claimOne(TestClaims.upTo(1)));
        store().discard(discarded, NOTE);
        await(() -> store().prune(Set.of(JobState.SUCCEEDED), Duration.ZERO, 10) == 1);
        QueueState queue = queue("default");
        assertThat(queue.count(JobState.FAILED)).isZero();
        assertThat(queue.count(JobState.SUCCEEDED)).isZero();
        assertThat(queue.count(JobState.PENDING)).isEqualTo(1);
    }

    @Test
    default void every_queue_is_listed_once() {
        add(List.of(
                TestJobs.on("a").build(),
                TestJobs.on("b").build(),
                TestJobs.on("a").build()));
        store().limit("c", 1, NOTE);
        assertThat(store().queues()).extracting(QueueState::name).containsExactlyInAnyOrder("a", "b", "c");
        assertThat(queue("c").counts())
                .allSatisfy((state, count) -> assertThat(count).isZero());
    }

    @Test
    default void a_limit_is_noted_in_the_same_words_by_every_store() {
        store().limit("c", 5, NOTE);
        awaitNextInstant();
        store().limit("c", null, NOTE);
        assertThat(store().audit(null, 10))
                .extracting(AuditEntry::action, AuditEntry::detail)
                .containsExactly(tuple("limit", "no limit"), tuple("limit", "at most 5"));
    }

    @Test
    default void the_oldest_due_time_of_a_long_queue_may_be_that_of_a_group() {
        JobId oldest = add(TestJobs.spec("oldest").group("shop-7"));
        awaitNextInstant();
        List<JobSpec> later = new ArrayList<>();
        for (int i = 0; i < 1_200; i++) {
            later.add(TestJobs.spec("later").group(i % 2 == 0 ? "shop-8" : null).build());
        }
        add(later);
        assertThat(queue("default").oldestDueAt())
                .isEqualTo(read(oldest).times().dueAt());
    }

    @Test
    default void the_oldest_due_time_is_that_of_a_due_job() {
        add(TestJobs.spec("later").delay(Duration.ofHours(1)));
        assertThat(queue("default").oldestDueAt()).isNull();
        Instant due = read(add(TestJobs.spec("now"))).times().dueAt();
        awaitNextInstant();
        add(TestJobs.spec("younger").priority(9));
        assertThat(queue("default").oldestDueAt()).isEqualTo(due);
        claimOne(TestClaims.upTo(10));
        assertThat(queue("default").oldestDueAt()).isNull();
    }

    @Test
    default void a_paused_queue_gives_no_jobs_until_it_is_resumed() {
        add(List.of(TestJobs.on("a").build(), TestJobs.on("b").build()));
        store().pause("a", NOTE);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10).from("a", "b"))))
                .extracting(job -> job.queue())
                .containsExactly("b");
        store().resume("a", NOTE);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10).from("a", "b"))))
                .extracting(job -> job.queue())
                .containsExactly("a");
    }

    @Test
    default void a_pause_holds_for_jobs_with_needs_too() {
        JobId before = add(TestJobs.on("a").needs(List.of("gpu")));
        add(TestJobs.on("ab").needs(List.of("gpu")));
        store().pause("a", NOTE);
        // This queue appears only after the pause.
        add(TestJobs.on("a").needs(List.of("eu", "gpu")));
        List<String> beside = List.of("a@needs:eu:gpu", "a@needs:gpu");
        assertThat(store().dueQueues("a", "b", 100).queues()).containsExactly("ab@needs:gpu");
        assertThat(claim(TestClaims.upTo(10).from(beside.toArray(String[]::new))))
                .isEmpty();
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10).from("a@needs:gpu", "a@needs:eu:gpu", "ab@needs:gpu"))))
                .extracting(job -> job.queue())
                .containsExactly("ab@needs:gpu");
        QueueState.Pause pause = queue("a").paused();
        assertThat(beside).allSatisfy(name -> assertThat(queue(name).paused()).isEqualTo(pause));
        assertThat(queue("ab@needs:gpu").paused()).isNull();
        assertThat(store().queuePosition(before, 10).orElseThrow().paused()).isEqualTo(pause);
        store().resume("a@needs:gpu", NOTE);
        assertThat(claim(TestClaims.upTo(10).from("a@needs:gpu"))).isEmpty();
        store().resume("a", NOTE);
        assertThat(store().queuePosition(before, 10).orElseThrow().paused()).isNull();
        assertThat(store().queues()).noneMatch(queue -> queue.paused() != null);
        assertThat(store().dueQueues("a", "b", 100).queues()).containsAll(beside);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10).from(beside.toArray(String[]::new)))))
                .hasSize(2);
    }

    @Test
    default void a_queue_of_jobs_with_needs_can_be_paused_by_its_own_name() {
        add(TestJobs.on("a"));
        add(TestJobs.on("a").needs(List.of("gpu")));
        store().pause("a@needs:gpu", NOTE);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10).from("a@needs:gpu", "a"))))
                .extracting(job -> job.queue())
                .containsExactly("a");
        store().resume("a", NOTE);
        assertThat(claim(TestClaims.upTo(10).from("a@needs:gpu"))).isEmpty();
    }

    @Test
    default void a_pause_says_who_when_and_why_and_the_first_one_stays() {
        Instant before = store().now();
        store().pause("a", new AuditNote("ada", "provider down"));
        QueueState.Pause pause = queue("a").paused();
        assertThat(pause).isNotNull().satisfies(first -> {
            assertThat(first.note()).isEqualTo(new AuditNote("ada", "provider down"));
            assertThat(first.since()).isBetween(before, store().now());
        });
        awaitNextInstant();
        store().pause("a", new AuditNote("bob", "me too"));
        assertThat(queue("a").paused()).isEqualTo(pause);
        store().resume("a", NOTE);
        assertThat(store().queues()).noneMatch(queue -> queue.paused() != null);
    }

    @Test
    default void running_jobs_of_a_paused_queue_end_as_usual() {
        JobId id = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        store().pause("default", NOTE);
        succeed(claim);
        assertThat(read(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    default void a_limit_bounds_what_runs_at_once() {
        add(TestJobs.many(5));
        store().limit("default", 2, NOTE);
        assertThat(queue("default").maxRunning()).isEqualTo(2);
        Claim claim = claimOne(TestClaims.upTo(10));
        assertThat(claim.jobs()).hasSize(2);
        assertThat(claim(TestClaims.upTo(10).by("worker-2"))).isEmpty();
        settle(TestSettlements.success(claim, claim.jobs().get(0)));
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10)))).hasSize(1);
        store().limit("default", null, NOTE);
        assertThat(queue("default").maxRunning()).isNull();
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10)))).hasSize(2);
    }

    @Test
    default void a_limit_counts_jobs_with_needs_too() {
        for (int i = 0; i < 3; i++) {
            add(TestJobs.on("a"));
            add(TestJobs.on("a").needs(List.of("gpu")));
            add(TestJobs.on("ab").needs(List.of("gpu")));
        }
        store().limit("a", 4, NOTE);
        TestClaims all = TestClaims.upTo(20).from("a@needs:gpu", "a", "ab@needs:gpu");
        List<Claim> claims = claim(all);
        assertThat(TestClaims.jobs(claims))
                .extracting(Job::queue)
                .containsExactlyInAnyOrder(
                        "a@needs:gpu",
                        "a@needs:gpu",
                        "a@needs:gpu",
                        "a",
                        "ab@needs:gpu",
                        "ab@needs:gpu",
                        "ab@needs:gpu");
        assertThat(claim(all)).isEmpty();
        assertThat(claim(TestClaims.upTo(20).from("a"))).isEmpty();
        assertThat(queue("a@needs:gpu").maxRunning()).isEqualTo(4);
        assertThat(queue("ab@needs:gpu").maxRunning()).isNull();
        Claim first = claims.stream()
                .filter(claim -> claim.queue().equals("a@needs:gpu"))
                .findFirst()
                .orElseThrow();
        settle(TestSettlements.success(first, first.jobs().get(0)));
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(20).from("a")))).hasSize(1);
        assertThat(claim(all)).isEmpty();
    }

    @Test
    default void a_queue_of_jobs_with_needs_may_have_a_smaller_limit() {
        for (int i = 0; i < 3; i++) {
            add(TestJobs.on("a"));
            add(TestJobs.on("a").needs(List.of("gpu")));
        }
        store().limit("a", 3, NOTE);
        store().limit("a@needs:gpu", 1, NOTE);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(20).from("a@needs:gpu"))))
                .hasSize(1);
        assertThat(claim(TestClaims.upTo(20).from("a@needs:gpu"))).isEmpty();
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(20).from("a")))).hasSize(2);
        assertThat(queue("a@needs:gpu").maxRunning()).isEqualTo(1);
        store().limit("a@needs:gpu", null, NOTE);
        assertThat(claim(TestClaims.upTo(20).from("a@needs:gpu"))).isEmpty();
    }

    @Test
    default void a_suspect_is_subject_to_the_limit_too() {
        add(TestJobs.many(1));
        for (int losses = 0; losses < 2; losses++) {
            Claim claim = claimOne(TestClaims.upTo(1));
            settle(TestSettlements.loss(claim, only(claim)));
        }
        add(TestJobs.many(2));
        store().limit("default", 1, NOTE);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10)))).hasSize(1);
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void a_limit_below_what_runs_gives_nothing_more() {
        add(TestJobs.many(4));
        claimOne(TestClaims.upTo(3));
        store().limit("default", 1, NOTE);
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        store().limit("default", 0, NOTE);
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void settings_of_a_queue_survive_one_another() {
        store().limit("a", 3, NOTE);
        store().pause("a", NOTE);
        store().resume("a", NOTE);
        assertThat(queue("a").maxRunning()).isEqualTo(3);
    }

    @Test
    default void changes_to_a_queue_are_audited() {
        store().pause("a", NOTE);
        store().resume("a", new AuditNote("bob", null));
        List<AuditEntry> entries = store().audit(null, 10);
        assertThat(entries).extracting(AuditEntry::action).containsExactly("resume", "pause");
        assertThat(entries).extracting(AuditEntry::subject).containsOnly("a");
        assertThat(entries).extracting(AuditEntry::note).containsExactly(new AuditNote("bob", null), NOTE);
        assertThat(entries).allSatisfy(entry -> assertThat(entry.job()).isNull());
        assertThat(store().audit(null, 1)).isEqualTo(entries.subList(0, 1));
    }

    @Test
    default void the_depth_of_a_queue_counts_its_live_jobs_and_no_others() {
        add(TestJobs.on("mail"));
        add(TestJobs.on("mail").delay(Duration.ofHours(1)));
        add(TestJobs.on("mail2"));
        JobId cancelled = add(TestJobs.on("mail"));
        assertThat(store().depth("mail", 100)).isEqualTo(3);
        store().cancel(cancelled, NOTE);
        claimOne(TestClaims.upTo(1).from("mail"));
        assertThat(store().depth("mail", 100)).as("a running job counts").isEqualTo(2);
        assertThat(store().depth("mail", 1)).isEqualTo(1);
        assertThat(store().depth("nobody", 100)).isZero();
    }
}
