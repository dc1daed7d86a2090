// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.ControlFixture.CALL;
import static io.reprise.ControlFixture.PROVIDER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlSettings;
import io.reprise.failure.FailureClass;
import io.reprise.failure.Rule;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.ControlEvent.Kind;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.AuditEntry;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ControlRow;
import io.reprise.store.JobStore;
import io.reprise.testing.ManualClock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Breakers, limits and budgets of a whole fleet in virtual time. */
class ControlTest {

    @Test
    void an_outage_costs_few_calls_and_no_job() {
        try (ControlFixture fleet = new ControlFixture(4)) {
            fleet.arrive(20, 60);
            fleet.down = true;
            fleet.arrive(20, 300);
            fleet.down = false;
            assertThat(fleet.calls(60, 360)).as("calls during the outage").isLessThan(150);
            assertThat(fleet.provider().parked()).isGreaterThan(5_000);
            fleet.arrive(20, 360);
            fleet.pass(Duration.ofSeconds(60));
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(20 * 720);
            assertThat(fleet.callSeconds.size()).as("calls altogether").isLessThan((int) (1.02 * 20 * 720));
            assertThat(fleet.peak(360, 362))
                    .as("calls in the first seconds after it, beside 20 jobs a second")
                    .isLessThanOrEqualTo(100);
            assertThat(fleet.kinds()).startsWith(Kind.BREAKER_OPENED, Kind.BREAKER_HALF_OPENED);
            assertThat(fleet.kinds()).endsWith(Kind.BREAKER_RAMPING, Kind.BREAKER_CLOSED);
            assertThat(fleet.store.parkedBy()).isEmpty();
            assertThat(fleet.store.controls()).as("nothing to remember").isEmpty();
        }
    }

    @Test
    void jobs_that_come_while_a_breaker_ramps_need_not_all_be_parked() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.arrive(20, 30);
            fleet.down = true;
            fleet.arrive(20, 60);
            fleet.down = false;
            while (fleet.events.get(fleet.events.size() - 1).kind() != ControlEvent.Kind.BREAKER_RAMPING) {
                fleet.arrive(20, 1);
            }
            int parked = fleet.parkings;
            fleet.arrive(20, 10);
            assertThat(fleet.events.get(fleet.events.size() - 1).kind()).isEqualTo(ControlEvent.Kind.BREAKER_RAMPING);
            assertThat(fleet.parkings - parked).as("of 200 that came").isLessThan(100);
        }
    }

    @Test
    void a_backlog_that_no_worker_has_claimed_yet_comes_back_at_the_rate_before() {
        try (ControlFixture fleet = new ControlFixture(0)) {
            fleet.add(builder -> builder.store(busy(fleet.store, fleet.clock)));
            fleet.any().enqueueAll(Collections.nCopies(70_000, CALL.job("x").resource(PROVIDER)));
            fleet.pass(Duration.ofSeconds(4));
            fleet.down = true;
            fleet.pass(Duration.ofSeconds(10));
            fleet.down = false;
            while (!fleet.kinds().contains(Kind.BREAKER_RAMPING)) {
                fleet.pass(Duration.ofMillis(100));
            }
            long ramps = Duration.between(fleet.start, fleet.clock.instant()).toSeconds();
            int parked = fleet.parkings;
            fleet.pass(Duration.ofSeconds(9));
            double before = fleet.calls(1, 4) / 3.0;
            assertThat(fleet.calls(ramps + 5, ramps + 8) / 3.0)
                    .as("calls per second, %s before", before)
                    .isGreaterThan(0.8 * before);
            assertThat(fleet.parkings - parked).as("claims for nothing").isLessThan(5_000);
        }
    }

    /** Limits claims to 200 jobs each 100 ms: a claim that ends in a parking costs as much as one that ends in a run. */
    private static JobStore busy(JobStore store, ManualClock clock) {
        Instant[] next = {clock.instant()};
        return intercepted(store, (method, args) -> {
            if (!method.equals("claim")) {
                return null;
            }
            if (clock.instant().isBefore(next[0])) {
                return List.of();
            }
            next[0] = clock.instant().plusMillis(100);
            ClaimRequest all = (ClaimRequest) args[0];
            return store.claim(new ClaimRequest(
                    all.worker(),
                    all.lease(),
                    Math.min(all.max(), 200),
                    all.demands(),
                    all.retryShare(),
                    all.suspects(),
                    all.types(),
                    all.others(),
                    all.remote()));
        });
    }

    @Test
    void a_held_job_spends_nothing_and_says_why() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.down = true;
            fleet.arrive(10, 3);
            JobId id = fleet.enqueue();
            fleet.pass(Duration.ofSeconds(2));
            Job job = fleet.store.find(id).orElseThrow();
            assertThat(job.status().waitReason()).isEqualTo(WaitReason.BREAKER);
            assertThat(job.attempts()).isZero();
            ResourceStatus provider = fleet.provider();
            assertThat(provider.phase()).isIn(BreakerPhase.OPEN, BreakerPhase.HALF_OPEN);
            assertThat(provider.parked()).isPositive();
            assertThat(fleet.events.get(0).why()).contains("failures in a row");
            assertThat(fleet.events.get(0).subject()).isEqualTo(PROVIDER);
        }
    }

    @Test
    void a_job_has_as_many_free_probes_as_attempts() {
        RetryPolicy three = RetryPolicy.unset().maxAttempts(3).noDeadline();
        try (ControlFixture fleet = new ControlFixture(2, builder -> builder.retry(three))) {
            fleet.any().as("ada", null).forceOpen(PROVIDER);
            fleet.pass(Duration.ofSeconds(2));
            JobId id = fleet.enqueue();
            fleet.pass(Duration.ofSeconds(2));
            fleet.down = true;
            fleet.any().as("ada", null).automatic(PROVIDER);
            fleet.pass(Duration.ofMinutes(20));
            assertThat(fleet.callSeconds.size()).as("calls").isEqualTo(6);
            Job job = fleet.store.find(id).orElseThrow();
            assertThat(job.failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(job.counts()).isEqualTo(new JobCounts(3, 0, 0, 3, 0));
        }
    }

    @Test
    void the_only_job_of_a_resource_survives_an_outage_of_minutes() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.any().as("ada", null).forceOpen(PROVIDER);
            fleet.pass(Duration.ofSeconds(2));
            JobId id = fleet.enqueue();
            fleet.pass(Duration.ofSeconds(2));
            fleet.down = true;
            fleet.any().as("ada", null).automatic(PROVIDER);
            fleet.pass(Duration.ofMinutes(15));
            assertThat(fleet.callSeconds.size()).as("calls").isLessThan(40);
            fleet.down = false;
            fleet.pass(Duration.ofMinutes(30));
            assertThat(fleet.store.find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void permanent_failures_open_nothing() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.failure = new ControlFixture.Answer(422);
            fleet.arrive(20, 10);
            assertThat(fleet.count(JobState.FAILED)).isEqualTo(200);
            assertThat(fleet.events).isEmpty();
            assertThat(fleet.store.controls()).isEmpty();
        }
    }

    @Test
    void jobs_of_other_resources_and_of_none_go_on() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.any().as("ada", "maintenance").forceOpen(PROVIDER);
            fleet.pass(Duration.ofSeconds(2));
            JobId held = fleet.enqueue();
            JobId other = fleet.any().enqueue(CALL.job("x").resource("provider-b"));
            JobId none = fleet.any().enqueue(CALL.job("x"));
            fleet.pass(Duration.ofSeconds(5));
            assertThat(fleet.store.find(held).orElseThrow().state()).isEqualTo(JobState.PENDING);
            assertThat(fleet.store.find(other).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(fleet.store.find(none).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_person_opens_and_closes_a_breaker_in_her_name() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.any().as("ada", "maintenance").forceOpen(PROVIDER);
            fleet.pass(Duration.ofSeconds(2));
            JobId id = fleet.enqueue();
            fleet.pass(Duration.ofHours(1));
            assertThat(fleet.callSeconds).isEmpty();
            ResourceStatus provider = fleet.provider();
            assertThat(provider.phase()).isEqualTo(BreakerPhase.OPEN);
            assertThat(provider.why()).isEqualTo("kept open by ada: maintenance");
            assertThat(provider.nextProbe()).isNull();
            assertThat(provider.parked()).isEqualTo(1);
            fleet.workers.get(1).as("grace", null).forceClose(PROVIDER);
            fleet.pass(Duration.ofSeconds(3));
            assertThat(fleet.store.find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
            fleet.down = true;
            fleet.arrive(20, 5);
            assertThat(fleet.provider().phase()).isEqualTo(BreakerPhase.CLOSED);
            fleet.any().as("ada", null).automatic(PROVIDER);
            fleet.arrive(20, 5);
            assertThat(fleet.kinds())
                    .containsSubsequence(Kind.BREAKER_OPENED, Kind.BREAKER_CLOSED, Kind.BREAKER_OPENED);
            assertThat(fleet.store.audit(null, 10))
                    .extracting(
                            AuditEntry::action,
                            AuditEntry::subject,
                            entry -> entry.note().by())
                    .containsExactly(
                            tuple("automatic", "breaker/" + PROVIDER, "ada"),
                            tuple("force-close", "breaker/" + PROVIDER, "grace"),
                            tuple("force-open", "breaker/" + PROVIDER, "ada"));
        }
    }

    @Test
    void back_pressure_finds_the_rate_that_the_provider_takes() {
        try (ControlFixture fleet = new ControlFixture(3)) {
            fleet.perSecond = 20;
            fleet.statusAboveLimit = 429;
            fleet.arrive(40, 120);
            assertThat(fleet.provider().phase()).isEqualTo(BreakerPhase.RAMPING);
            assertThat(Objects.requireNonNull(fleet.provider().ramp()).rate()).isBetween(10.0, 30.0);
            assertThat(fleet.calls(60, 120)).isBetween(20L * 60 * 7 / 10, 20L * 60 * 13 / 10);
            assertThat(fleet.kinds()).doesNotContain(Kind.BREAKER_OPENED);
            fleet.pass(Duration.ofMinutes(10));
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(40 * 120);
            assertThat(fleet.any().resources()).as("nothing to tell any more").isEmpty();
        }
    }

    @Test
    void retries_beyond_the_budget_wait_and_none_fails() {
        RetryPolicy soon = RetryPolicy.fixed(Duration.ofSeconds(1)).maxAttempts(1_000);
        BudgetSettings small = BudgetSettings.OF_QUEUE.capacity(140).floor(2);
        ControlSettings settings = ControlSettings.DEFAULT.queueBudget(small);
        try (ControlFixture fleet =
                new ControlFixture(3, builder -> builder.retry(soon).control(settings))) {
            fleet.failure = new IllegalStateException("not now");
            JobId last = fleet.any().enqueue(CALL.job("x"));
            for (int i = 0; i < 99; i++) {
                last = fleet.any().enqueue(CALL.job("x"));
            }
            fleet.pass(Duration.ofSeconds(60));
            assertThat(fleet.callSeconds.size())
                    .as("first calls, the budget and the floor")
                    .isBetween(100 + 100, 100 + 10 + 120 + 20);
            assertThat(fleet.kinds()).contains(Kind.QUEUE_BUDGET_EMPTIED);
            assertThat(fleet.store.parked()).containsKey("budget/queue/default");
            assertThat(fleet.store.find(last).orElseThrow().status().waitReason())
                    .isIn(WaitReason.BUDGET, WaitReason.RETRY);
            fleet.failure = null;
            fleet.pass(Duration.ofSeconds(60));
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(100);
            fleet.pass(Duration.ofMinutes(15));
            assertThat(fleet.store.controls()).isEmpty();
        }
    }

    /** A queue with a slash in its name belongs to whom the part before it names. */
    @Test
    void retries_of_one_owner_use_up_no_credit_of_another() {
        RetryPolicy soon = RetryPolicy.fixed(Duration.ofSeconds(1)).maxAttempts(1_000);
        ControlSettings settings = ControlSettings.DEFAULT.budget(
                BudgetSettings.OF_ALL.capacity(140).floor(0.001));
        try (ControlFixture fleet =
                new ControlFixture(2, builder -> builder.retry(soon).control(settings))) {
            fleet.failure = new IllegalStateException("not now");
            for (int i = 0; i < 100; i++) {
                fleet.any().enqueue(CALL.job("x").queue("evil/" + i));
            }
            fleet.pass(Duration.ofSeconds(10));
            assertThat(fleet.store.parked()).containsOnlyKeys("budget/all/evil");
            assertThat(fleet.events)
                    .filteredOn(event -> event.kind() == Kind.BUDGET_EMPTIED)
                    .extracting(ControlEvent::subject)
                    .containsOnly("evil/");
            JobId victims = fleet.any().enqueue(CALL.job("x").queue("victim/mail"));
            JobId own = fleet.any().enqueue(CALL.job("x"));
            fleet.pass(Duration.ofMillis(500));
            fleet.failure = null;
            fleet.pass(Duration.ofSeconds(5));
            assertThat(List.of(victims, own))
                    .allSatisfy(
                            id -> assertThat(fleet.store.find(id).orElseThrow().state())
                                    .isEqualTo(JobState.SUCCEEDED));
        }
    }

    @Test
    void retries_that_succeed_are_not_held_up() {
        try (ControlFixture fleet = new ControlFixture(3)) {
            fleet.failure = new IllegalStateException("a hiccup");
            for (int i = 0; i < 5_000; i++) {
                fleet.any().enqueue(CALL.job("x"));
            }
            fleet.pass(Duration.ofSeconds(1));
            fleet.failure = null;
            fleet.pass(Duration.ofSeconds(60));
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(5_000);
        }
    }

    @Test
    void another_worker_takes_over_when_the_leader_is_gone() {
        try (ControlFixture fleet = new ControlFixture(3)) {
            fleet.down = true;
            fleet.arrive(20, 10);
            fleet.workers.remove(0).close();
            fleet.pass(Duration.ofSeconds(30));
            fleet.down = false;
            fleet.pass(Duration.ofMinutes(3));
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(200);
        }
    }

    @Test
    void the_state_survives_when_every_worker_restarts() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.down = true;
            fleet.arrive(20, 5);
            fleet.workers.forEach(Reprise::close);
            fleet.workers.clear();
            int before = fleet.callSeconds.size();
            fleet.add(builder -> builder.name("later"));
            JobId id = fleet.enqueue();
            fleet.pass(Duration.ofSeconds(1));
            assertThat(fleet.callSeconds.size() - before).as("probes at most").isLessThanOrEqualTo(3);
            assertThat(fleet.store.find(id).orElseThrow().attempts()).isZero();
        }
    }

    @Test
    void parked_jobs_come_back_when_their_breaker_is_gone() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.any().as("ada", null).forceOpen(PROVIDER);
            fleet.pass(Duration.ofSeconds(2));
            JobId id = fleet.enqueue();
            fleet.pass(Duration.ofSeconds(2));
            ControlRow row = fleet.store.controls().get(0);
            assertThat(fleet.store.removeControl(row.name(), row.version())).isTrue();
            fleet.pass(Duration.ofSeconds(10));
            assertThat(fleet.store.find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void parked_jobs_come_back_when_control_is_switched_off() {
        try (ControlFixture fleet = new ControlFixture(1)) {
            fleet.down = true;
            fleet.arrive(20, 5);
            assertThat(fleet.provider().parked()).isPositive();
            fleet.workers.remove(0).close();
            fleet.down = false;
            fleet.add(builder -> builder.name("off").control(ControlSettings.off()));
            fleet.pass(Duration.ofSeconds(60));
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(100);
        }
    }

    @Test
    void a_resource_can_do_without_a_breaker() {
        Resource unguarded = Resource.of(PROVIDER).breaker(BreakerSettings.off());
        try (ControlFixture fleet = new ControlFixture(2, builder -> builder.resources(unguarded))) {
            fleet.down = true;
            fleet.arrive(20, 5);
            assertThat(fleet.calls(0, 5)).isGreaterThanOrEqualTo(100);
            assertThat(fleet.kinds()).doesNotContain(Kind.BREAKER_OPENED);
        }
    }

    @Test
    void a_resource_has_delays_and_attempts_of_its_own() {
        RetryPolicy late =
                RetryPolicy.fixed(Duration.ofSeconds(7)).jitter(Jitter.none()).maxAttempts(2);
        RetryPolicy soon = RetryPolicy.fixed(Duration.ofSeconds(3)).jitter(Jitter.none());
        try (ControlFixture fleet = new ControlFixture(
                1,
                builder -> builder.retry(soon).resources(Resource.of(PROVIDER).retry(late)))) {
            fleet.failure = new ControlFixture.Answer(500);
            JobId here = fleet.enqueue();
            JobId elsewhere = fleet.any().enqueue(CALL.job("x").resource("provider-b"));
            fleet.pass(Duration.ofMillis(10));
            assertThat(delay(fleet, here)).isEqualTo(Duration.ofSeconds(7));
            assertThat(delay(fleet, elsewhere)).isEqualTo(Duration.ofSeconds(3));
            fleet.pass(Duration.ofSeconds(10));
            Job spent = fleet.store.find(here).orElseThrow();
            assertThat(spent.failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(spent.attempts()).isEqualTo(2);
            assertThat(fleet.store.find(elsewhere).orElseThrow().state()).isEqualTo(JobState.PENDING);
        }
    }

    private static Duration delay(ControlFixture fleet, JobId id) {
        Decision decision = fleet.any().attempts(id).get(0).decision();
        return ((Decision.Retry) Objects.requireNonNull(decision)).delay();
    }

    @Test
    void a_resource_has_rules_of_its_own() {
        Resource strict = Resource.of(PROVIDER)
                .retry(RetryPolicy.unset().rule(Rule.ofStatuses("a-500-is-final", FailureClass.PERMANENT, 500)));
        try (ControlFixture fleet = new ControlFixture(1, builder -> builder.resources(strict))) {
            fleet.failure = new ControlFixture.Answer(500);
            JobId here = fleet.enqueue();
            JobId elsewhere = fleet.any().enqueue(CALL.job("x").resource("provider-b"));
            fleet.pass(Duration.ofMillis(10));
            assertThat(fleet.store.find(here).orElseThrow().state()).isEqualTo(JobState.FAILED);
            assertThat(fleet.store.find(elsewhere).orElseThrow().state()).isEqualTo(JobState.PENDING);
        }
    }

    @Test
    void a_job_whose_deadline_passes_while_it_is_parked_fails_and_says_so() {
        try (ControlFixture fleet = new ControlFixture(1)) {
            fleet.any().as("ada", null).forceOpen(PROVIDER);
            fleet.pass(Duration.ofSeconds(2));
            RetryPolicy hour = RetryPolicy.unset().deadline(Duration.ofHours(1));
            JobId id = fleet.any().enqueue(CALL.job("x").resource(PROVIDER).retry(hour));
            fleet.pass(Duration.ofHours(2));
            assertThat(fleet.store.find(id).orElseThrow().state()).isEqualTo(JobState.FAILED);
        }
    }

    @Test
    void nothing_is_written_while_nothing_fails() {
        Map<String, Integer> calls = new HashMap<>();
        try (ControlFixture fleet = new ControlFixture(0)) {
            fleet.add(builder -> builder.store(counting(fleet.store, calls)));
            fleet.arrive(100, 60);
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(6_000);
            assertThat(calls).doesNotContainKeys("putControls", "unpark", "removeControls");
            assertThat(calls.getOrDefault("controls", 0) + calls.getOrDefault("controlsAfter", 0))
                    .isBetween(10, 70);
            assertThat(calls.getOrDefault("parkedBy", 0)).isLessThan(70);
        }
    }

    @Test
    void the_dead_letter_of_a_killer_names_its_victims() {
        try (ControlFixture fleet = new ControlFixture(1)) {
            AuditNote note = new AuditNote("test", null);
            fleet.store.pause("default", note);
            JobId poison = fleet.enqueue();
            for (int i = 1; fleet.store.find(poison).orElseThrow().state() == JobState.PENDING && i < 10; i++) {
                fleet.store.resume("default", note);
                fleet.store.claim(new ClaimRequest(
                        "victim-" + i,
                        Duration.ofSeconds(30),
                        1,
                        List.of(new ClaimRequest.Demand("default", 1)),
                        0.2,
                        true));
                fleet.store.pause("default", note);
                fleet.pass(Duration.ofMinutes(2));
            }
            Job dead = fleet.store.find(poison).orElseThrow();
            assertThat(dead.state()).isEqualTo(JobState.FAILED);
            Instant firstLoss = fleet.store.attempts(poison).get(0).endedAt();
            assertThat(Objects.requireNonNull(dead.status().lastError()).message())
                    .contains("victim-1 at " + firstLoss)
                    .contains("victim-2 at ");
        }
    }

    private static JobStore counting(JobStore store, Map<String, Integer> calls) {
        return intercepted(store, (method, args) -> {
            calls.merge(method, 1, Integer::sum);
            return null;
        });
    }

    private interface Interceptor {

        /** Returns the answer to a call, or null if the store is to answer it. */
        @Nullable
        Object answer(String method, Object[] args);
    }

    private static JobStore intercepted(JobStore store, Interceptor interceptor) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    Object answer = interceptor.answer(method.getName(), args);
                    if (answer != null) {
                        return answer;
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
