// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.reprise.job.AuditEntry;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ControlRow;
import io.reprise.store.Requeue;
import io.reprise.store.Unparking;
import io.reprise.testkit.fixture.Crowd;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Control state that workers share, and the jobs that it parks. */
public interface ControlContract extends StoreFixture {

    String BREAKER = "breaker/provider-a";

    @Test
    default void control_state_is_stored_and_read() {
        long version = store().putControl(new ControlRow(BREAKER, 0, "phase=OPEN\nwhy=it's down"))
                .orElseThrow();
        store().putControl(new ControlRow("budget/all", 0, "level=1")).orElseThrow();
        assertThat(store().controls())
                .contains(new ControlRow(BREAKER, version, "phase=OPEN\nwhy=it's down"))
                .hasSize(2);
    }

    @Test
    default void only_the_first_of_two_changes_counts() {
        long first = store().putControl(new ControlRow(BREAKER, 0, "a")).orElseThrow();
        assertThat(store().putControl(new ControlRow(BREAKER, 0, "b"))).isEmpty();
        long second = store().putControl(new ControlRow(BREAKER, first, "c")).orElseThrow();
        assertThat(second).isGreaterThan(first);
        assertThat(store().putControl(new ControlRow(BREAKER, first, "d"))).isEmpty();
        assertThat(store().controls()).containsExactly(new ControlRow(BREAKER, second, "c"));
    }

    @Test
    default void a_version_never_comes_again() {
        long first = store().putControl(new ControlRow(BREAKER, 0, "a")).orElseThrow();
        assertThat(store().removeControl(BREAKER, first + 1)).isFalse();
        assertThat(store().removeControl(BREAKER, first)).isTrue();
        assertThat(store().controls()).isEmpty();
        assertThat(store().putControl(new ControlRow(BREAKER, first, "b"))).isEmpty();
        long again = store().putControl(new ControlRow(BREAKER, 0, "c")).orElseThrow();
        assertThat(again).isGreaterThan(first);
    }

    @Test
    default void of_many_changes_each_counts_by_itself() {
        List<OptionalLong> created = store().putControls(List.of(row("a", 0, "1"), row("b", 0, "1"), row("c", 0, "1")));
        assertThat(created).allMatch(OptionalLong::isPresent);
        long b = created.get(1).getAsLong();
        long later = store().putControl(row("b", b, "2")).orElseThrow();
        List<OptionalLong> changed = store().putControls(List.of(
                row("d", 0, "1"),
                row("c", created.get(2).getAsLong(), "2"),
                row("b", b, "3"),
                row("a", 0, "2"),
                row("e", later, "1")));
        assertThat(changed).extracting(OptionalLong::isPresent).containsExactly(true, true, false, false, false);
        assertThat(store().controls())
                .extracting(ControlRow::name, ControlRow::state)
                .containsExactly(tuple("a", "1"), tuple("b", "2"), tuple("c", "2"), tuple("d", "1"));
        assertThat(store().controls(List.of("c", "e")))
                .containsExactly(row("c", changed.get(1).getAsLong(), "2"));
        assertThat(changed.get(1).getAsLong()).isGreaterThan(created.get(2).getAsLong());
    }

    @Test
    default void what_was_changed_since_a_version_is_read() {
        long first = store().putControl(row("a", 0, "1")).orElseThrow();
        long second = store().putControl(row("b", 0, "1")).orElseThrow();
        assertThat(store().controlsAfter(0)).extracting(ControlRow::name).containsExactlyInAnyOrder("a", "b");
        assertThat(store().controlsAfter(first)).containsExactly(row("b", second, "1"));
        long third = store().putControl(row("a", first, "2")).orElseThrow();
        assertThat(store().controlsAfter(second)).containsExactly(row("a", third, "2"));
        assertThat(store().controlsAfter(third)).isEmpty();
    }

    @Test
    default void of_many_rows_those_that_nobody_changed_are_removed() {
        List<OptionalLong> versions = store().putControls(List.of(row("a", 0, "1"), row("b", 0, "1")));
        long b = versions.get(1).getAsLong();
        store().putControl(row("b", b, "2")).orElseThrow();
        assertThat(store().removeControls(
                                List.of(row("a", versions.get(0).getAsLong(), ""), row("b", b, ""), row("c", b, ""))))
                .containsExactly("a");
        assertThat(store().controls()).extracting(ControlRow::name).containsExactly("b");
    }

    @Test
    default void bundles_of_many_workers_lose_no_change() {
        int each = 10;
        List<String> names = List.of("a", "b", "c", "d");
        Crowd.run(4, number -> {
            for (int i = 0; i < each; i++) {
                List<String> left = new ArrayList<>(names);
                Collections.rotate(left, number);
                while (!left.isEmpty()) {
                    Map<String, ControlRow> known = new HashMap<>();
                    store().controls(left).forEach(found -> known.put(found.name(), found));
                    List<OptionalLong> done = store().putControls(left.stream()
                            .map(name -> known.getOrDefault(name, row(name, 0, "0")))
                            .map(row ->
                                    row(row.name(), row.version(), Integer.toString(Integer.parseInt(row.state()) + 1)))
                            .toList());
                    List<String> beaten = new ArrayList<>();
                    for (int n = 0; n < done.size(); n++) {
                        if (done.get(n).isEmpty()) {
                            beaten.add(left.get(n));
                        }
                    }
                    left = beaten;
                }
            }
        });
        assertThat(store().controls()).extracting(ControlRow::state).containsOnly(Integer.toString(4 * each));
    }

    private static ControlRow row(String name, long version, String state) {
        return new ControlRow(name, version, state);
    }

    @Test
    default void jobs_of_many_names_are_put_back_in_one_call() {
        for (int i = 0; i < 60; i++) {
            add(TestJobs.many(2));
            for (Claim claim : claim(TestClaims.upTo(2))) {
                for (Job job : claim.jobs()) {
                    settle(TestSettlements.park(claim, job, "breaker/" + i));
                }
            }
        }
        List<Unparking> wanted = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            wanted.add(
                    i % 3 == 0
                            ? Unparking.fresh("breaker/" + i, 1, Instant.EPOCH)
                            : Unparking.backlog("breaker/" + i, i % 3 == 1 ? 1 : 5));
        }
        wanted.add(Unparking.backlog("breaker/nobody", 5));
        wanted.add(Unparking.backlog("breaker/1", 0));
        List<Integer> expected = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            expected.add(i % 3 == 2 ? 2 : 1);
        }
        expected.addAll(List.of(0, 0));
        assertThat(store().unpark(wanted)).isEqualTo(expected);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(100)))).hasSize(80);
        assertThat(store().parkedBy()).hasSize(40);
    }

    @Test
    default void a_change_by_hand_is_noted_if_it_counts() {
        store().putControl(new ControlRow(BREAKER, 0, "a"), "force-open", NOTE).orElseThrow();
        assertThat(store().putControl(new ControlRow(BREAKER, 0, "b"), "force-close", NOTE))
                .isEmpty();
        assertThat(store().audit(null, 10))
                .extracting(AuditEntry::action, AuditEntry::subject, AuditEntry::note)
                .containsExactly(tuple("force-open", BREAKER, NOTE));
    }

    @Test
    default void many_workers_lose_no_change() {
        int each = 20;
        Crowd.run(4, number -> {
            for (int i = 0; i < each; i++) {
                OptionalLong done = OptionalLong.empty();
                while (done.isEmpty()) {
                    ControlRow row = store().controls().stream()
                            .filter(found -> found.name().equals(BREAKER))
                            .findFirst()
                            .orElse(new ControlRow(BREAKER, 0, "0"));
                    String next = Integer.toString(Integer.parseInt(row.state()) + 1);
                    done = store().putControl(new ControlRow(BREAKER, row.version(), next));
                }
            }
        });
        assertThat(store().controls()).extracting(ControlRow::state).containsExactly(Integer.toString(4 * each));
    }

    @Test
    default void a_parked_job_is_not_claimed_and_has_spent_nothing() {
        JobId id = add(TestJobs.spec("calls").resource("provider-a"));
        Instant due = read(id).times().dueAt();
        Claim claim = claimOne();
        assertThat(claim.admitted()).isEmpty();
        assertThat(settle(TestSettlements.park(claim, only(claim), BREAKER)).stale())
                .isEmpty();
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        Job parked = read(id);
        assertThat(parked.state()).isEqualTo(JobState.PENDING);
        assertThat(parked.status().waitReason()).isEqualTo(WaitReason.BREAKER);
        assertThat(parked.times().dueAt()).isEqualTo(due);
        assertThat(parked.attempts()).isZero();
        assertThat(parked.counts().snoozes()).isZero();
        assertThat(store().attempts(id)).isEmpty();
        assertThat(store().parked()).containsEntry(BREAKER, 1L).hasSize(1);
        assertThat(store().parkedBy()).containsExactly(BREAKER);
        assertThat(count("default", JobState.PENDING)).isEqualTo(1);
        assertThat(queue("default").oldestDueAt())
                .as("it does not wait for a worker")
                .isNull();
        assertThat(store().liveQueues()).contains("default");
        assertThat(settle(TestSettlements.success(claim, only(claim))).stale()).containsExactly(id);
    }

    @Test
    default void an_unparked_job_is_claimed_and_known_to_be_let_through() {
        List<JobId> ids = park(1);
        assertThat(store().unpark(BREAKER, 10)).isEqualTo(1);
        assertThat(store().unpark(BREAKER, 10)).isZero();
        assertThat(store().parkedBy()).isEmpty();
        assertThat(read(ids.get(0)).status().waitReason()).isEqualTo(WaitReason.BREAKER);
        Claim claim = claimOne();
        assertThat(claim.admitted()).containsExactlyElementsOf(ids);
        settle(TestSettlements.putBack(claim, only(claim)));
        assertThat(claimOne().admitted())
                .as("not used up by a run that never began")
                .containsExactlyElementsOf(ids);
    }

    @Test
    default void a_job_that_nothing_holds_any_more_is_an_ordinary_job() {
        List<JobId> ids = park(3);
        Instant since = store().now().minusSeconds(3600);
        assertThat(store().unpark(List.of(Unparking.fresh(BREAKER, 1, since).freely())))
                .containsExactly(1);
        assertThat(store().unpark(List.of(Unparking.backlog(BREAKER, 10).freely())))
                .containsExactly(2);
        assertThat(ids).extracting(id -> read(id).status().waitReason()).containsOnly(WaitReason.NEW);
        assertThat(claim(TestClaims.upTo(10)).stream().flatMap(claim -> claim.admitted().stream()))
                .isEmpty();
        assertThat(store().parkedBy()).isEmpty();
    }

    @Test
    default void whoever_was_let_through_and_ran_is_an_ordinary_job_again() {
        park(1);
        store().unpark(BREAKER, 1);
        Claim claim = claimOne();
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        assertThat(claimOne().admitted()).isEmpty();
    }

    @Test
    default void a_job_of_a_backlog_is_fresh_again_after_a_replay_that_resets_it() {
        List<JobId> ids = park(1);
        store().unpark(BREAKER, 1);
        Claim claim = claimOne();
        settle(TestSettlements.fail(claim, only(claim)));
        store().requeue(ids.get(0), new Requeue("replay", Duration.ZERO, null, true, 0, Requeue.Edit.NONE), NOTE);
        JobId retried = add(TestJobs.spec("retried"));
        Claim other = claim(TestClaims.upTo(2)).get(0);
        other.jobs()
                .forEach(job -> settle(
                        job.id().equals(retried)
                                ? TestSettlements.retry(other, job, Duration.ZERO)
                                : TestSettlements.putBack(other, job)));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1).retryShare(1))))
                .as("the only retry, though it is due later")
                .containsExactly(retried);
    }

    @Test
    default void the_earliest_due_go_first_whatever_their_queue() {
        List<JobId> order = new ArrayList<>();
        for (String queue : List.of("b", "a", "b", "a")) {
            order.add(add(TestJobs.on(queue).resource("provider-a")));
            awaitNextInstant();
        }
        for (Claim claim : claim(TestClaims.upTo(10).from("a", "b"))) {
            claim.jobs().forEach(job -> settle(TestSettlements.park(claim, job, BREAKER)));
        }
        for (JobId next : order) {
            assertThat(store().unpark(BREAKER, 1)).isEqualTo(1);
            assertThat(TestClaims.ids(claim(TestClaims.upTo(10).from("a", "b"))))
                    .containsExactly(next);
        }
    }

    @Test
    default void fresh_jobs_go_latest_first_if_they_came_since_and_were_never_tried() {
        JobId old = add(TestJobs.spec("calls"));
        awaitNextInstant();
        Instant since = store().now();
        JobId first = add(TestJobs.spec("calls"));
        awaitNextInstant();
        JobId last = add(TestJobs.spec("calls"));
        JobId tried = add(TestJobs.spec("calls"));
        for (Claim claim : claim(TestClaims.upTo(10))) {
            claim.jobs()
                    .forEach(job -> settle(
                            job.id().equals(tried)
                                    ? TestSettlements.parkedRetry(claim, job, Duration.ZERO, BREAKER)
                                    : TestSettlements.park(claim, job, BREAKER)));
        }
        Unparking one = Unparking.fresh(BREAKER, 1, since);
        assertThat(store().unpark(List.of(one))).containsExactly(1);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10)))).containsExactly(last);
        assertThat(store().unpark(List.of(Unparking.fresh("breaker/other", 5, since), one)))
                .as("one answer for each, in their order")
                .containsExactly(0, 1);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10)))).containsExactly(first);
        assertThat(store().unpark(List.of(one))).containsExactly(0);
        assertThat(store().unpark(List.of(Unparking.backlog(BREAKER, 10)))).containsExactly(2);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10)))).containsExactlyInAnyOrder(old, tried);
    }

    @Test
    default void a_backlog_that_was_let_go_leaves_fresh_jobs_their_share() {
        List<JobId> backlog = park(10);
        awaitNextInstant();
        store().unpark(List.of(Unparking.backlog(BREAKER, 10)));
        List<JobId> fresh = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            fresh.add(add(TestJobs.spec("calls")));
        }
        List<JobId> claimed = TestClaims.ids(claim(TestClaims.upTo(10).retryShare(0.2)));
        assertThat(claimed).hasSize(10).containsAll(fresh);
        assertThat(claimed).filteredOn(backlog::contains).hasSize(2);
    }

    @Test
    default void names_do_not_mix() {
        park(2);
        JobId other = add(TestJobs.spec("calls"));
        Claim claim = claimOne();
        settle(TestSettlements.park(claim, only(claim), "budget/all"));
        assertThat(store().parkedBy()).containsExactlyInAnyOrder(BREAKER, "budget/all");
        assertThat(store().unpark("breaker/provider", 10)).isZero();
        assertThat(store().unpark("budget/all", 10)).isEqualTo(1);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10)))).containsExactly(other);
        assertThat(store().parked()).containsEntry(BREAKER, 2L).hasSize(1);
    }

    @Test
    default void a_retry_can_be_parked_with_its_delay() {
        JobId id = add(TestJobs.spec("calls"));
        Claim claim = claimOne();
        settle(TestSettlements.parkedRetry(claim, only(claim), Duration.ofHours(1), "budget/all"));
        Job parked = read(id);
        assertThat(parked.attempts()).isEqualTo(1);
        assertThat(parked.status().waitReason()).isEqualTo(WaitReason.BUDGET);
        assertThat(parked.times().lastDelay()).isEqualTo(Duration.ofHours(1));
        assertThat(store().attempts(id)).hasSize(1);
        assertThat(store().unpark("budget/all", 1)).isEqualTo(1);
        assertThat(claim(TestClaims.upTo(10))).as("not before it is due").isEmpty();
        JobId next = add(TestJobs.spec("calls"));
        Claim now = claimOne();
        settle(TestSettlements.parkedRetry(now, only(now), Duration.ZERO, "budget/all"));
        store().unpark("budget/all", 2);
        Claim again = claimOne();
        assertThat(only(again).id()).isEqualTo(next);
        assertThat(again.admitted()).as("a budget is no breaker").isEmpty();
    }

    @Test
    default void lanes_are_as_they_were_before() {
        add(TestJobs.spec("suspect"));
        for (int losses = 0; losses < 2; losses++) {
            Claim lost = claimOne();
            settle(TestSettlements.loss(lost, only(lost)));
        }
        Claim alone = claimOne();
        assertThat(alone.alone()).isTrue();
        settle(TestSettlements.park(alone, only(alone), BREAKER));
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        store().unpark(BREAKER, 1);
        assertThat(claimOne().alone()).isTrue();
    }

    @Test
    default void jobs_of_a_paused_queue_stay_parked() {
        park(1);
        JobId other = add(TestJobs.on("other"));
        Claim claim = claimOne(TestClaims.upTo(1).from("other"));
        settle(TestSettlements.park(claim, only(claim), BREAKER));
        store().pause("default", NOTE);
        assertThat(store().unpark(BREAKER, 10)).isEqualTo(1);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10).from("default", "other"))))
                .containsExactly(other);
        store().resume("default", NOTE);
        assertThat(store().unpark(BREAKER, 10)).isEqualTo(1);
    }

    @Test
    default void jobs_with_needs_stay_parked_while_the_queue_is_paused_that_they_name() {
        for (String queue : List.of("default", "other")) {
            add(TestJobs.on(queue).needs(List.of("gpu")));
            Claim claim = claimOne(TestClaims.upTo(1).from(queue + "@needs:gpu"));
            settle(TestSettlements.park(claim, only(claim), BREAKER));
        }
        store().pause("default", NOTE);
        assertThat(store().unpark(BREAKER, 10)).isEqualTo(1);
        store().resume("default", NOTE);
        assertThat(store().unpark(BREAKER, 10)).isEqualTo(1);
    }

    @Test
    default void a_parked_job_is_listed_and_cancelled() {
        JobId id = park(1).get(0);
        JobQuery pending = JobQuery.all().state(JobState.PENDING).resource("provider-a");
        assertThat(store().find(pending).items()).extracting(Job::id).containsExactly(id);
        assertThat(store().cancel(id, NOTE)).isEqualTo(Cancellation.DONE);
        assertThat(read(id).state()).isEqualTo(JobState.CANCELLED);
        assertThat(store().parkedBy()).isEmpty();
        assertThat(store().unpark(BREAKER, 10)).isZero();
    }

    @Test
    default void a_parked_job_fails_at_its_deadline_and_can_be_requeued() {
        List<Claim> claims = List.of();
        for (int millis = 100; claims.isEmpty(); millis *= 4) {
            add(TestJobs.spec("calls").policy(RetryPolicy.unset().deadline(Duration.ofMillis(millis))));
            claims = claim(TestClaims.upTo(1));
        }
        Claim claim = claims.get(0);
        JobId id = only(claim).id();
        settle(TestSettlements.park(claim, only(claim), BREAKER));
        await(() -> store().expire(10).stream().anyMatch(job -> job.id().equals(id)));
        assertThat(read(id).failReason()).isEqualTo(FailReason.DEADLINE);
        assertThat(store().parkedBy()).isEmpty();
        requeue(id);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1)))).containsExactly(id);
    }

    @Test
    default void a_retry_by_hand_brings_a_parked_job_back() {
        JobId id = park(1).get(0);
        requeue(id);
        assertThat(read(id).status().waitReason()).isEqualTo(WaitReason.MANUAL);
        assertThat(store().parkedBy()).isEmpty();
        Claim claim = claimOne();
        assertThat(only(claim).id()).isEqualTo(id);
        assertThat(claim.admitted()).isEmpty();
    }

    @Test
    default void a_parked_job_holds_its_unique_key_until_it_is_replaced() {
        JobId id = add(TestJobs.spec("calls").key("k", KeyRule.KEEP));
        Claim claim = claimOne();
        settle(TestSettlements.park(claim, only(claim), BREAKER));
        assertThat(insert(TestJobs.spec("calls").key("k", KeyRule.KEEP)).id()).isEqualTo(id);
        assertThat(store().parkedBy()).containsExactly(BREAKER);
        assertThat(insert(TestJobs.spec("calls").key("k", KeyRule.REPLACE)).id())
                .isEqualTo(id);
        assertThat(store().parkedBy()).isEmpty();
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1)))).containsExactly(id);
    }

    @Test
    default void a_job_asked_to_stop_is_cancelled_instead_of_parked() {
        JobId id = add(TestJobs.spec("calls"));
        Claim claim = claimOne();
        store().cancel(id, NOTE);
        assertThat(settle(TestSettlements.park(claim, only(claim), BREAKER)).cancelled())
                .containsExactly(id);
        assertThat(store().parkedBy()).isEmpty();
        assertThat(read(id).state()).isEqualTo(JobState.CANCELLED);
    }

    @Test
    default void a_worker_that_lost_its_lease_cannot_park() {
        JobId id = add(TestJobs.spec("calls"));
        Claim dead = claimAndDie("worker-1", 1);
        takeOver("worker-2");
        assertThat(settle(TestSettlements.park(dead, only(dead), BREAKER)).stale())
                .containsExactly(id);
        assertThat(store().parkedBy()).isEmpty();
    }

    @Test
    default void many_workers_park_and_unpark_and_no_job_is_lost_or_run_twice() {
        int jobs = 200;
        add(Collections.nCopies(
                jobs, TestJobs.spec("calls").resource("provider-a").build()));
        Set<JobId> done = Collections.synchronizedSet(new HashSet<>());
        AtomicInteger unparked = new AtomicInteger();
        AtomicInteger parked = new AtomicInteger();
        Crowd.run(4, number -> {
            int idle = 0;
            while (done.size() < jobs && idle < 10_000) {
                List<Claim> claims = claim(TestClaims.upTo(7).by("worker-" + number));
                for (Claim claim : claims) {
                    for (Job job : claim.jobs()) {
                        if (claim.admitted().contains(job.id())) {
                            assertThat(settle(TestSettlements.success(claim, job))
                                            .stale())
                                    .isEmpty();
                            assertThat(done.add(job.id()))
                                    .as("first run of " + job.id())
                                    .isTrue();
                        } else {
                            settle(TestSettlements.park(claim, job, BREAKER));
                            parked.incrementAndGet();
                        }
                    }
                }
                unparked.addAndGet(store().unpark(BREAKER, 3));
                idle = claims.isEmpty() ? idle + 1 : 0;
            }
        });
        assertThat(done).hasSize(jobs);
        assertThat(parked).hasValue(jobs);
        assertThat(unparked).hasValue(jobs);
    }

    private List<JobId> park(int count) {
        List<JobId> ids = add(Collections.nCopies(
                count, TestJobs.spec("calls").resource("provider-a").build()));
        for (Claim claim : claim(TestClaims.upTo(count))) {
            claim.jobs().forEach(job -> settle(TestSettlements.park(claim, job, BREAKER)));
        }
        return ids;
    }

    private void requeue(JobId id) {
        Requeue.Edit same = Requeue.Edit.NONE;
        assertThat(store().requeue(id, new Requeue("retry", Duration.ZERO, null, false, 0, same), NOTE)
                        .id())
                .isEqualTo(id);
    }
}
