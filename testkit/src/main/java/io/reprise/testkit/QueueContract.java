// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.reprise.JobId;
import io.reprise.JobState;
import io.reprise.store.AuditEntry;
import io.reprise.store.Claim;
import io.reprise.store.Note;
import io.reprise.store.QueueState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Settings and counts of queues. */
public interface QueueContract extends StoreFixture {

    @Test
    default void counts_follow_every_move_of_a_job() {
        add(Jobs.many(6));
        Claim claim = claimOne(Claims.upTo(5));
        settle(
                Settlements.success(claim, claim.jobs().get(0)),
                Settlements.fail(claim, claim.jobs().get(1)),
                Settlements.cancellation(claim, claim.jobs().get(2)),
                Settlements.retry(claim, claim.jobs().get(3), Duration.ofHours(1)));
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
        deadLetter(Jobs.spec("dead"));
        add(Jobs.on("mail"));
        add(Jobs.on("mail"));
        add(Jobs.on("images").delay(Duration.ofDays(1)));
        store().pause("empty", NOTE);
        assertThat(store().liveQueues()).containsExactlyInAnyOrder("images", "mail");
        claimOne(Claims.upTo(2).from("mail"));
        assertThat(store().liveQueues()).containsExactlyInAnyOrder("images", "mail");
    }

    @Test
    default void counts_survive_upkeep() {
        add(Jobs.many(3));
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
        JobId discarded = deadLetter(Jobs.spec("dead"));
        add(Jobs.many(2));
        succeed(claimOne(Claims.upTo(1)));
        store().discard(discarded, NOTE);
        await(() -> store().prune(Set.of(JobState.SUCCEEDED), Duration.ZERO, 10) == 1);
        QueueState queue = queue("default");
        assertThat(queue.count(JobState.FAILED)).isZero();
        assertThat(queue.count(JobState.SUCCEEDED)).isZero();
        assertThat(queue.count(JobState.PENDING)).isEqualTo(1);
    }

    @Test
    default void every_queue_is_listed_once() {
        add(List.of(Jobs.on("a").build(), Jobs.on("b").build(), Jobs.on("a").build()));
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
    default void the_oldest_due_time_is_that_of_a_due_job() {
        add(Jobs.spec("later").delay(Duration.ofHours(1)));
        assertThat(queue("default").oldestDueAt()).isNull();
        Instant due = read(add(Jobs.spec("now"))).times().dueAt();
        awaitNextInstant();
        add(Jobs.spec("younger").priority(9));
        assertThat(queue("default").oldestDueAt()).isEqualTo(due);
        claimOne(Claims.upTo(10));
        assertThat(queue("default").oldestDueAt()).isNull();
    }

    @Test
    default void a_paused_queue_gives_no_jobs_until_it_is_resumed() {
        add(List.of(Jobs.on("a").build(), Jobs.on("b").build()));
        store().pause("a", NOTE);
        assertThat(Claims.jobs(claim(Claims.upTo(10).from("a", "b"))))
                .extracting(job -> job.queue())
                .containsExactly("b");
        store().resume("a", NOTE);
        assertThat(Claims.jobs(claim(Claims.upTo(10).from("a", "b"))))
                .extracting(job -> job.queue())
                .containsExactly("a");
    }

    @Test
    default void a_pause_says_who_when_and_why_and_the_first_one_stays() {
        Instant before = store().now();
        store().pause("a", new Note("ada", "provider down"));
        QueueState.Pause pause = queue("a").paused();
        assertThat(pause).isNotNull().satisfies(first -> {
            assertThat(first.note()).isEqualTo(new Note("ada", "provider down"));
            assertThat(first.since()).isBetween(before, store().now());
        });
        awaitNextInstant();
        store().pause("a", new Note("bob", "me too"));
        assertThat(queue("a").paused()).isEqualTo(pause);
        store().resume("a", NOTE);
        assertThat(store().queues()).noneMatch(queue -> queue.paused() != null);
    }

    @Test
    default void running_jobs_of_a_paused_queue_end_as_usual() {
        JobId id = add(Jobs.spec("work"));
        Claim claim = claimOne();
        store().pause("default", NOTE);
        succeed(claim);
        assertThat(read(id).state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    default void a_limit_bounds_what_runs_at_once() {
        add(Jobs.many(5));
        store().limit("default", 2, NOTE);
        assertThat(queue("default").maxRunning()).isEqualTo(2);
        Claim claim = claimOne(Claims.upTo(10));
        assertThat(claim.jobs()).hasSize(2);
        assertThat(claim(Claims.upTo(10).by("worker-2"))).isEmpty();
        settle(Settlements.success(claim, claim.jobs().get(0)));
        assertThat(Claims.jobs(claim(Claims.upTo(10)))).hasSize(1);
        store().limit("default", null, NOTE);
        assertThat(queue("default").maxRunning()).isNull();
        assertThat(Claims.jobs(claim(Claims.upTo(10)))).hasSize(2);
    }

    @Test
    default void a_suspect_is_subject_to_the_limit_too() {
        add(Jobs.many(1));
        for (int losses = 0; losses < 2; losses++) {
            Claim claim = claimOne(Claims.upTo(1));
            settle(Settlements.loss(claim, only(claim)));
        }
        add(Jobs.many(2));
        store().limit("default", 1, NOTE);
        assertThat(Claims.jobs(claim(Claims.upTo(10)))).hasSize(1);
        assertThat(claim(Claims.upTo(10))).isEmpty();
    }

    @Test
    default void a_limit_below_what_runs_gives_nothing_more() {
        add(Jobs.many(4));
        claimOne(Claims.upTo(3));
        store().limit("default", 1, NOTE);
        assertThat(claim(Claims.upTo(10))).isEmpty();
        store().limit("default", 0, NOTE);
        assertThat(claim(Claims.upTo(10))).isEmpty();
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
        store().resume("a", new Note("bob", null));
        List<AuditEntry> entries = store().audit(null, 10);
        assertThat(entries).extracting(AuditEntry::action).containsExactly("resume", "pause");
        assertThat(entries).extracting(AuditEntry::subject).containsOnly("a");
        assertThat(entries).extracting(AuditEntry::note).containsExactly(new Note("bob", null), NOTE);
        assertThat(entries).allSatisfy(entry -> assertThat(entry.job()).isNull());
        assertThat(store().audit(null, 1)).isEqualTo(entries.subList(0, 1));
    }
}
