// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.reprise.failure.FailureClass;
import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.CostEntry;
import io.reprise.insight.ErrorKey;
import io.reprise.insight.Evidence;
import io.reprise.insight.WaitingError;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Prediction;
import io.reprise.store.ActivityQuery;
import io.reprise.store.Claim;
import io.reprise.store.CountedAs;
import io.reprise.store.InsightStore;
import io.reprise.store.Settlement;
import io.reprise.store.WorkerCounts;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Counts that workers add up: evidence, spending, activity. */
public interface InsightContract extends StoreFixture {

    ErrorKey CAUSE = new ErrorKey("send", "mail", "0123456789abcdef", "java.io.IOException");

    /** Time passes while a test runs, so evidence is a little less than what was added. */
    double LITTLE = 0.1;

    /** Long enough even if midnight has just passed. */
    Duration TODAY = Duration.ofHours(1);

    private static WorkerCounts workerCounts(Evidence... evidence) {
        return new WorkerCounts(List.of(evidence), List.of(), List.of());
    }

    private static WorkerCounts workerCounts(CostEntry... spending) {
        return new WorkerCounts(List.of(), List.of(spending), List.of());
    }

    private static WorkerCounts workerCounts(Activity... activity) {
        return new WorkerCounts(List.of(), List.of(), List.of(activity));
    }

    @Test
    default void a_store_starts_without_any_findings() {
        assertThat(store().evidence()).isEmpty();
        assertThat(store().spending(Duration.ofDays(31))).isEmpty();
        assertThat(store().activity(Duration.ZERO, 60)).isEmpty();
        store().addCounts(new WorkerCounts(List.of(), List.of(), List.of()));
        assertThat(store().evidence()).isEmpty();
    }

    @Test
    default void failures_of_many_jobs_are_told_oldest_first() {
        JobId twice = add(TestJobs.spec("work"));
        for (int i = 0; i < 2; i++) {
            Claim claim = claimOne();
            settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
            awaitNextInstant();
        }
        succeed(claimOne());
        JobId snoozed = add(TestJobs.spec("work"));
        Claim claim = claimOne();
        settle(TestSettlements.snooze(claim, only(claim), Duration.ZERO));
        List<Instant> failed = store().attempts(twice).stream()
                .filter(attempt -> attempt.ending() == Attempt.Ending.FAILED)
                .map(Attempt::endedAt)
                .toList();
        assertThat(failed).hasSize(2).isSorted();
        Map<JobId, List<Instant>> told = store().failures(List.of(twice, snoozed, new JobId(987_654_321)));
        assertThat(told.get(twice)).isEqualTo(failed);
        assertThat(told.getOrDefault(snoozed, List.of())).isEmpty();
        assertThat(store().failures(List.of())).isEmpty();
    }

    @Test
    default void evidence_of_several_workers_adds_up() {
        store().addCounts(workerCounts(new Evidence(CAUSE, 1, 10, 4)));
        store().addCounts(workerCounts(new Evidence(CAUSE, 1, 5, 5), new Evidence(CAUSE, 2, 3, 0)));
        List<Evidence> evidence = store().evidence();
        assertThat(evidence).extracting(Evidence::cause).containsExactly(CAUSE, CAUSE);
        assertThat(evidence).extracting(Evidence::attempt).containsExactlyInAnyOrder(1, 2);
        Evidence first = evidence.stream()
                .filter(each -> each.attempt() == 1)
                .findFirst()
                .orElseThrow();
        assertThat(first.tries()).isCloseTo(15, within(LITTLE));
        assertThat(first.successes()).isCloseTo(9, within(LITTLE));
    }

    @Test
    default void evidence_counts_less_with_age() {
        store().addCounts(workerCounts(new Evidence(CAUSE, 1, 1000, 1000)));
        await(() -> store().evidence().get(0).tries() < 1000);
        double left = store().evidence().get(0).tries();
        store().addCounts(workerCounts(new Evidence(CAUSE, 1, 1000, 0)));
        Evidence both = store().evidence().get(0);
        assertThat(both.successes()).isLessThanOrEqualTo(left);
        assertThat(both.tries() - both.successes()).isGreaterThan(990);
    }

    @Test
    default void causes_differ_by_type_resource_and_error() {
        List<ErrorKey> causes = List.of(
                CAUSE,
                new ErrorKey("send", null, "0123456789abcdef", "java.io.IOException"),
                new ErrorKey("send", "mail", "fedcba9876543210", "java.io.IOException"),
                new ErrorKey("call", "mail", "0123456789abcdef", "java.io.IOException"));
        for (ErrorKey cause : causes) {
            store().addCounts(workerCounts(new Evidence(cause, 1, 1, 0)));
            store().addCounts(workerCounts(new CostEntry(cause, "usd", 1, 1, 1, 0)));
        }
        assertThat(store().evidence()).extracting(Evidence::cause).containsExactlyInAnyOrderElementsOf(causes);
        assertThat(store().spending(TODAY)).extracting(CostEntry::cause).containsExactlyInAnyOrderElementsOf(causes);
    }

    @Test
    default void evidence_beyond_the_limit_is_put_together() {
        List<Evidence> many = new ArrayList<>();
        for (int i = 0; i < InsightStore.MAX_EVIDENCE; i++) {
            many.add(new Evidence(new ErrorKey("send", "host-" + i, "e", "E"), 1, 1, 0));
        }
        store().addCounts(new WorkerCounts(many, List.of(), List.of()));
        store().addCounts(workerCounts(
                new Evidence(CAUSE, 1, 7, 1),
                new Evidence(CAUSE, 2, 4, 0),
                new Evidence(many.get(0).cause(), 1, 1, 1)));
        List<Evidence> evidence = store().evidence();
        assertThat(evidence).hasSize(InsightStore.MAX_EVIDENCE + 1);
        assertThat(evidence).extracting(Evidence::cause).doesNotContain(CAUSE);
        Evidence rest = evidence.stream()
                .filter(each -> each.cause().equals(ErrorKey.REST))
                .findFirst()
                .orElseThrow();
        assertThat(rest.tries()).isCloseTo(11, within(LITTLE));
        assertThat(evidence.stream().mapToDouble(Evidence::successes).sum()).isCloseTo(2, within(LITTLE));
    }

    @Test
    default void spending_adds_up_by_cause_and_unit() {
        ErrorKey first = ErrorKey.first("send", null);
        store().addCounts(workerCounts(
                new CostEntry(first, CostEntry.SECONDS, 3, 2, 1.5, 0.5),
                new CostEntry(CAUSE, "usd", 1, 0, 0.25, 0.25)));
        store().addCounts(workerCounts(new CostEntry(first, CostEntry.SECONDS, 1, 1, 2, 0)));
        assertThat(store().spending(Duration.ofDays(1)))
                .containsExactlyInAnyOrder(
                        new CostEntry(first, CostEntry.SECONDS, 4, 3, 3.5, 0.5),
                        new CostEntry(CAUSE, "usd", 1, 0, 0.25, 0.25));
    }

    @Test
    default void spending_beyond_the_limit_is_put_together() {
        List<CostEntry> many = new ArrayList<>();
        for (int i = 0; i < InsightStore.MAX_SPENDING + 10; i++) {
            many.add(new CostEntry(ErrorKey.first("send", "host-" + i), CostEntry.SECONDS, 1, 1, 1, 0));
        }
        store().addCounts(new WorkerCounts(List.of(), many, List.of()));
        List<CostEntry> spending = store().spending(TODAY);
        assertThat(spending).hasSize(InsightStore.MAX_SPENDING + 1);
        assertThat(spending.stream().mapToLong(CostEntry::runs).sum()).isEqualTo(many.size());
        assertThat(spending).contains(new CostEntry(ErrorKey.REST, CostEntry.SECONDS, 10, 10, 10, 0));
    }

    @Test
    default void jobs_of_a_queue_are_counted_by_their_group() {
        add(Collections.nCopies(3, TestJobs.on("mail").group("a").build()));
        add(Collections.nCopies(2, TestJobs.on("mail").group("b").build()));
        add(Collections.nCopies(2, TestJobs.on("mail").build()));
        add(TestJobs.on("other").group("c"));
        Claim claim = claimOne(TestClaims.upTo(1).from("mail"));
        assertThat(store().groups("mail", 100)).isEqualTo(Map.of("a", 3L, "b", 2L));
        succeed(claim);
        assertThat(store().groups("mail", 100).values().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .isBetween(4L, 5L);
        assertThat(store().groups("mail", 2).values().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .isLessThanOrEqualTo(2);
        assertThat(store().groups("none", 100)).isEmpty();
    }

    @Test
    default void waiting_jobs_are_counted_by_their_reason_and_running_ones_are_not() {
        assertThat(store().waiting(10)).isEmpty();
        add(TestJobs.spec("work"));
        Claim failing = claimOne();
        settle(TestSettlements.retry(failing, only(failing), Duration.ofHours(1)));
        add(TestJobs.spec("work"));
        claimOne();
        add(TestJobs.spec("work"));
        add(TestJobs.spec("work").delay(Duration.ofHours(1)));
        add(TestJobs.spec("work").delay(Duration.ofHours(1)));
        assertThat(store().waiting(10))
                .isEqualTo(Map.of(WaitReason.NEW, 1L, WaitReason.DELAYED, 2L, WaitReason.RETRY, 1L));
        assertThat(store().waiting(2).values().stream()
                        .mapToLong(count -> count)
                        .sum())
                .isBetween(1L, 2L);
    }

    private static Activity activity(Activity.Subject subject, String name, long jobs) {
        return new Activity(
                subject, name, new Activity.Counts(jobs, 2, 3, 4, 5, 6, Duration.ofSeconds(7), Duration.ofSeconds(8)));
    }

    private static Activity activity(String type) {
        return activity(Activity.Subject.TYPE, type, 1);
    }

    @Test
    default void activity_adds_up_by_type() {
        Activity a = activity("a");
        Activity queue = activity(Activity.Subject.QUEUE, "a", 100);
        store().addCounts(workerCounts(a, activity("b"), queue));
        store().addCounts(workerCounts(a));
        assertThat(store().activity(Duration.ZERO, 60)).containsExactly(a.plus(a), activity("b"));
    }

    @Test
    default void activity_is_asked_for_by_time() {
        store().addCounts(workerCounts(activity("a")));
        assertThat(store().activity(Duration.ofMinutes(10), 60)).isEmpty();
        assertThat(store().activity(Duration.ZERO, 5)).hasSize(1);
    }

    @Test
    default void activity_of_too_many_types_is_put_together() {
        for (Activity.Step step : Activity.Step.values()) {
            List<Activity> many = new ArrayList<>();
            for (int i = 0; i < step.names() + 5; i++) {
                many.add(activity(Activity.Subject.RESOURCE, step + "-" + i, 1));
            }
            many.add(activity("alone"));
            store().addCounts(new WorkerCounts(List.of(), List.of(), many));
        }
        for (Activity.Step step : Activity.Step.values()) {
            List<ActivityPeriod> periods = store().activity(ActivityQuery.each(Activity.Subject.RESOURCE, step, 3));
            // Two calls may fall into two periods.
            assertThat(periods).extracting(ActivityPeriod::name).contains(Activity.REST);
            assertThat(periods).hasSizeBetween(step.names() + 1, 2 * step.names() + 2);
            assertThat(periods.stream().mapToLong(row -> row.counts().jobs()).sum())
                    .isEqualTo(Activity.Step.MINUTE.names() + Activity.Step.HOUR.names() + 10);
            assertThat(store().activity(ActivityQuery.each(Activity.Subject.TYPE, step, 3)))
                    .extracting(ActivityPeriod::name)
                    .containsOnly("alone");
        }
    }

    @Test
    default void activity_is_kept_by_minute_and_by_hour_of_each_subject() {
        for (Activity.Subject subject : Activity.Subject.values()) {
            store().addCounts(workerCounts(activity(subject, "a", 1), activity(subject, "b", 10)));
        }
        for (Activity.Subject subject : Activity.Subject.values()) {
            for (Activity.Step step : Activity.Step.values()) {
                List<ActivityPeriod> each = store().activity(ActivityQuery.each(subject, step, 2));
                assertThat(each).extracting(ActivityPeriod::name).containsExactly("a", "b");
                assertThat(each.get(0).at().toEpochMilli() % step.length().toMillis())
                        .isZero();
                assertThat(each.get(0).counts())
                        .isEqualTo(activity(subject, "a", 1).counts());
                List<ActivityPeriod> one = store().activity(ActivityQuery.of(subject, "b", step, 2));
                assertThat(one).containsExactly(each.get(1));
                List<ActivityPeriod> sum = store().activity(ActivityQuery.sum(subject, step, 2));
                assertThat(sum).hasSize(1);
                assertThat(sum.get(0).name()).isEmpty();
                assertThat(sum.get(0).counts())
                        .isEqualTo(each.get(0).counts().plus(each.get(1).counts()));
                assertThat(store().activity(ActivityQuery.of(subject, "c", step, 2)))
                        .isEmpty();
            }
        }
    }

    @Test
    default void jobs_that_wait_after_a_failure_are_counted_by_their_error() {
        assertThat(store().waitingErrors(null, 100)).isEmpty();
        JobId first = add(TestJobs.spec("work"));
        JobId second = add(TestJobs.spec("work"));
        for (int i = 0; i < 2; i++) {
            Claim claim = claimOne(TestClaims.upTo(1));
            settle(TestSettlements.retry(claim, only(claim), Duration.ofHours(1)));
        }
        JobId fresh = add(TestJobs.spec("work"));
        await(() -> read(second).state() == JobState.PENDING && read(first).state() == JobState.PENDING);
        List<WaitingError> errors = store().waitingErrors(null, 100);
        assertThat(errors)
                .containsExactly(new WaitingError(
                        TestSettlements.failure().fingerprint(),
                        TestSettlements.failure().type(),
                        TestSettlements.failure().message(),
                        2,
                        second));
        String queue = read(fresh).queue();
        assertThat(store().waitingErrors(queue.substring(0, 3), 100)).isEqualTo(errors);
        assertThat(store().waitingErrors("no such", 100)).isEmpty();
        assertThat(store().waitingErrors(null, 1).get(0).jobs()).isEqualTo(1);
    }

    @Test
    default void changes_of_breakers_are_kept_the_newest_first() {
        Instant now = store().now().truncatedTo(ChronoUnit.MILLIS);
        ControlEvent opened =
                new ControlEvent(ControlEvent.Kind.BREAKER_OPENED, "mail", now.minusSeconds(9), "5 of 10 failed");
        ControlEvent closed = new ControlEvent(ControlEvent.Kind.BREAKER_CLOSED, "mail", now, "probes succeeded");
        ControlEvent other = new ControlEvent(ControlEvent.Kind.BREAKER_OPENED, "sms", now, "");
        store().addControlEvents(List.of(closed, other, opened));
        store().addControlEvents(List.of(opened));
        assertThat(store().controlEvents("mail", 10)).containsExactly(closed, opened);
        assertThat(store().controlEvents("mail", 1)).containsExactly(closed);
        assertThat(store().controlEvents("sms", 10)).containsExactly(other);
        assertThat(store().controlEvents("none", 10)).isEmpty();
        store().maintain();
        assertThat(store().controlEvents("mail", 10)).hasSize(2);
    }

    @Test
    default void too_many_changes_of_breakers_push_the_oldest_out() {
        Instant now = store().now().truncatedTo(ChronoUnit.MILLIS);
        List<ControlEvent> many = new ArrayList<>();
        for (int i = 0; i < InsightStore.MAX_CONTROL_EVENTS + 50; i++) {
            many.add(new ControlEvent(
                    ControlEvent.Kind.BREAKER_OPENED, i < 100 ? "first" : "later", now.minusSeconds(30_000 - i), ""));
        }
        store().addControlEvents(many);
        store().maintain();
        assertThat(store().controlEvents("first", 200)).hasSizeBetween(49, 51);
        ControlEvent old =
                new ControlEvent(ControlEvent.Kind.BREAKER_OPENED, "old", now.minus(Duration.ofDays(32)), "");
        store().addControlEvents(List.of(old));
        store().maintain();
        assertThat(store().controlEvents("old", 1)).isEmpty();
    }

    @Test
    default void upkeep_forgets_only_what_has_faded() {
        ErrorKey faint = new ErrorKey("send", "mail", "faint", "E");
        store().addCounts(new WorkerCounts(
                List.of(new Evidence(CAUSE, 1, 10, 1), new Evidence(faint, 1, 0.4, 0)),
                List.of(new CostEntry(CAUSE, "usd", 1, 1, 1, 0)),
                List.of(activity("a"))));
        store().maintain();
        assertThat(store().evidence()).extracting(Evidence::cause).containsExactly(CAUSE);
        assertThat(store().spending(TODAY)).hasSize(1);
        assertThat(store().activity(Duration.ZERO, 60)).hasSize(1);
    }

    @Test
    default void a_claimed_retry_knows_the_error_it_follows() {
        JobId id = add(TestJobs.spec("work").resource("mail"));
        Claim claim = claimOne();
        settle(TestSettlements.retry(claim, only(claim), Duration.ZERO));
        await(() -> read(id).state() == JobState.PENDING);
        Job again = only(claimOne());
        assertThat(again.attempts()).isEqualTo(1);
        assertThat(again.spec().resource()).isEqualTo("mail");
        assertThat(Objects.requireNonNull(again.status().lastError()).fingerprint())
                .isEqualTo(TestSettlements.failure().fingerprint());
        assertThat(Objects.requireNonNull(again.status().lastError()).type())
                .isEqualTo(TestSettlements.failure().type());
    }

    @Test
    default void the_history_keeps_what_was_predicted() {
        JobId id = add(TestJobs.spec("work"));
        Prediction likely = new Prediction(12.5, 40.25, Prediction.Basis.ERROR);
        Prediction hopeless = new Prediction(0, 200, Prediction.Basis.ATTEMPT);
        Claim claim = claimOne();
        Decision retry = new Decision.Retry(Duration.ZERO, Duration.ZERO, FailureClass.TRANSIENT, "r", likely);
        Settlement.Next wait = new Settlement.Wait(WaitReason.RETRY, Duration.ZERO, Duration.ZERO);
        settle(new Settlement(
                id, claim.token(), CountedAs.ATTEMPT, TestSettlements.RAN, wait, TestSettlements.failure(), retry));
        Claim again = claimOne();
        Decision fail = new Decision.Fail(FailReason.HOPELESS, FailureClass.TRANSIENT, "r", true, hopeless);
        settle(new Settlement(
                id,
                again.token(),
                CountedAs.ATTEMPT,
                TestSettlements.RAN,
                new Settlement.Fail(FailReason.HOPELESS),
                TestSettlements.failure(),
                fail));
        assertThat(store().attempts(id)).extracting(Attempt::decision).containsExactly(retry, fail);
    }
}
