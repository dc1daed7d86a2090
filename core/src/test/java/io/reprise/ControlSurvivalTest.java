// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.ControlFixture.CALL;
import static io.reprise.ControlFixture.PROVIDER;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlKey;
import io.reprise.control.ControlSettings;
import io.reprise.internal.control.Breaker;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ControlRow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What could leave a breaker open, a budget empty or a job parked for ever, and does not. */
class ControlSurvivalTest {

    private static final String KEY = ControlKey.breaker(PROVIDER).text();
    private static final AuditNote NOTE = new AuditNote("test", null);

    private static void put(ControlFixture fleet, String name, String state) {
        long version = fleet.store.controls().stream()
                .filter(row -> row.name().equals(name))
                .mapToLong(ControlRow::version)
                .findFirst()
                .orElse(0);
        assertThat(fleet.store.putControl(new ControlRow(name, version, state))).isPresent();
    }

    private static JobState state(ControlFixture fleet, JobId id) {
        return fleet.store.find(id).orElseThrow().state();
    }

    @Test
    void a_leader_without_breakers_moves_on_those_that_others_go_by() {
        try (ControlFixture fleet = new ControlFixture(0)) {
            fleet.add(builder -> builder.control(ControlSettings.off())
                    .queues(Queue.of("elsewhere"))
                    .name("leader"));
            fleet.pass(Duration.ofSeconds(1));
            fleet.add(builder -> builder.name("second"));
            fleet.add(builder -> builder.name("third"));
            fleet.down = true;
            fleet.arrive(20, 10);
            int parkings = fleet.parkings;
            int calls = fleet.callSeconds.size();
            fleet.pass(Duration.ofMinutes(5));
            assertThat(fleet.callSeconds.size() - calls).as("probes").isBetween(3, 200);
            assertThat(fleet.parkings - parkings)
                    .as("each probe is parked again, and nothing else")
                    .isLessThanOrEqualTo(fleet.callSeconds.size() - calls + 3);
            fleet.down = false;
            fleet.pass(Duration.ofMinutes(3));
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(200);
        }
    }

    @Test
    void a_leader_without_budgets_grants_no_more_than_those_that_others_go_by() {
        Resource unguarded = Resource.of(PROVIDER).breaker(BreakerSettings.off());
        try (ControlFixture fleet = new ControlFixture(0)) {
            fleet.add(builder -> builder.control(ControlSettings.off())
                    .queues(Queue.of("elsewhere"))
                    .name("leader"));
            fleet.pass(Duration.ofSeconds(1));
            fleet.add(builder -> builder.name("second").resources(unguarded));
            fleet.add(builder -> builder.name("third").resources(unguarded));
            fleet.down = true;
            fleet.arrive(20, 10);
            int calls = fleet.callSeconds.size();
            fleet.pass(Duration.ofMinutes(2));
            assertThat(fleet.callSeconds.size() - calls)
                    .as("retries, about one a second")
                    .isBetween(60, 200);
        }
    }

    @Test
    void retries_that_wait_for_a_budget_which_all_have_switched_off_are_let_go() {
        Resource unguarded = Resource.of(PROVIDER).breaker(BreakerSettings.off());
        try (ControlFixture fleet = new ControlFixture(1, builder -> builder.resources(unguarded))) {
            fleet.down = true;
            fleet.arrive(20, 10);
            fleet.down = false;
            fleet.workers.remove(0).close();
            assertThat(fleet.store.parkedBy()).isNotEmpty();
            fleet.add(builder -> builder.name("off").control(ControlSettings.off()));
            fleet.pass(Duration.ofSeconds(40));
            assertThat(fleet.store.parkedBy()).isEmpty();
        }
    }

    @Test
    void a_breaker_that_all_have_switched_off_is_forgotten() {
        try (ControlFixture fleet = new ControlFixture(1)) {
            fleet.down = true;
            fleet.arrive(20, 5);
            fleet.down = false;
            fleet.workers.remove(0).close();
            Resource off = Resource.of(PROVIDER).breaker(BreakerSettings.off());
            fleet.add(builder -> builder.name("off").resources(off));
            fleet.pass(Duration.ofMinutes(2));
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(100);
            fleet.pass(Duration.ofMinutes(1));
            assertThat(fleet.store.controls()).isEmpty();
        }
    }

    @Test
    void a_ramp_without_a_rate_does_not_stand_still() {
        for (String rate : List.of(
                "", "rate=0\n", "rate=NaN\npermits=NaN\n", "rate=Infinity\n", "rate=5\ntook=1e300\ninFlight=1\n")) {
            try (ControlFixture fleet = new ControlFixture(2)) {
                put(fleet, KEY, "phase=RAMPING\n" + rate);
                fleet.pass(Duration.ofSeconds(2));
                JobId id = fleet.enqueue();
                fleet.pass(Duration.ofSeconds(90));
                assertThat(state(fleet, id)).as(rate).isEqualTo(JobState.SUCCEEDED);
            }
        }
    }

    @Test
    void a_row_that_nobody_can_read_does_not_hold_jobs_for_ever() {
        for (String text : List.of("", "what?", "phase=SIDEWAYS\nsince=yesterday\nwaiting=many")) {
            try (ControlFixture fleet = new ControlFixture(2)) {
                put(fleet, KEY, text);
                put(fleet, ControlKey.BUDGET.text(), text);
                fleet.pass(Duration.ofSeconds(2));
                JobId id = fleet.enqueue();
                fleet.pass(Duration.ofMinutes(3));
                assertThat(state(fleet, id)).as(text).isEqualTo(JobState.SUCCEEDED);
            }
        }
    }

    @Test
    void a_clock_that_was_set_back_holds_nothing_up() {
        for (BreakerPhase phase : List.of(BreakerPhase.OPEN, BreakerPhase.HALF_OPEN, BreakerPhase.RAMPING)) {
            try (ControlFixture fleet = new ControlFixture(2)) {
                String later = fleet.clock.instant().plus(Duration.ofDays(30)).toString();
                put(
                        fleet,
                        KEY,
                        String.join(
                                "\n",
                                "phase=" + phase,
                                "since=" + later,
                                "window=" + later,
                                "parkedSince=" + later,
                                "interval=PT10S",
                                "nextProbe=" + later,
                                "waiting=3",
                                "rate=5",
                                "accrued=" + later,
                                "judged=" + later,
                                "heard=" + later));
                put(fleet, "budget/resource/" + PROVIDER, "level=0\nat=" + later + "\nwaiting=true");
                JobId id = fleet.enqueue();
                fleet.pass(Duration.ofMinutes(3));
                assertThat(state(fleet, id)).as(phase.name()).isEqualTo(JobState.SUCCEEDED);
                fleet.pass(Duration.ofMinutes(5));
                assertThat(fleet.store.controls()).isEmpty();
            }
        }
    }

    @Test
    void probes_that_died_with_their_worker_are_made_up_for() {
        BreakerSettings settings = BreakerSettings.DEFAULT.probes(3, Duration.ofSeconds(1), Duration.ofSeconds(30));
        try (ControlFixture fleet =
                new ControlFixture(1, builder -> builder.control(ControlSettings.DEFAULT.breaker(settings)))) {
            fleet.down = true;
            fleet.arrive(20, 5);
            fleet.store.pause("default", NOTE);
            fleet.pass(Duration.ofSeconds(20));
            // A worker that nobody hears of again takes whatever is let through.
            fleet.store.resume("default", NOTE);
            int taken = 0;
            for (int i = 0; i < 200 && taken < 3; i++) {
                taken += fleet
                        .store
                        .claim(new ClaimRequest(
                                "victim",
                                Duration.ofSeconds(20),
                                3 - taken,
                                List.of(new ClaimRequest.Demand("default", 3 - taken)),
                                0.2,
                                true))
                        .stream()
                        .mapToInt(claim -> claim.jobs().size())
                        .sum();
                fleet.pass(Duration.ofMillis(50));
            }
            fleet.down = false;
            fleet.pass(Duration.ofMinutes(3));
            assertThat(fleet.count(JobState.SUCCEEDED)).isEqualTo(100);
        }
    }

    @Test
    void a_job_parked_in_a_paused_queue_comes_back_when_that_is_resumed() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.any().as("ada", null).forceOpen(PROVIDER);
            fleet.pass(Duration.ofSeconds(2));
            JobId id = fleet.enqueue();
            fleet.pass(Duration.ofSeconds(2));
            fleet.store.pause("default", NOTE);
            fleet.any().as("ada", null).automatic(PROVIDER);
            fleet.pass(Duration.ofMinutes(1));
            long version = fleet.store.controls().get(0).version();
            fleet.pass(Duration.ofMinutes(10));
            assertThat(fleet.store.controls().get(0).version() - version)
                    .as("writes while nothing can be let go")
                    .isLessThan(500);
            assertThat(state(fleet, id)).isEqualTo(JobState.PENDING);
            assertThat(fleet.callSeconds).isEmpty();
            fleet.store.resume("default", NOTE);
            fleet.pass(Duration.ofMinutes(2));
            assertThat(state(fleet, id)).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_probe_that_was_cancelled_is_made_up_for() {
        try (ControlFixture fleet = new ControlFixture(1)) {
            fleet.any().as("ada", null).forceOpen(PROVIDER);
            fleet.pass(Duration.ofSeconds(2));
            List<JobId> ids = List.of(fleet.enqueue(), fleet.enqueue(), fleet.enqueue(), fleet.enqueue());
            fleet.pass(Duration.ofSeconds(2));
            Breaker halfOpen = Breaker.parse(fleet.store.controls().get(0).state(), fleet.clock.instant())
                    .automatic(fleet.clock.instant())
                    .at(BreakerSettings.DEFAULT, fleet.clock.instant())
                    .letThrough(3);
            put(fleet, KEY, halfOpen.text());
            // As after a leader that let three through and died before it did.
            ids.subList(0, 3).forEach(id -> fleet.store.cancel(id, NOTE));
            fleet.pass(Duration.ofMinutes(3));
            assertThat(state(fleet, ids.get(3))).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void a_ramp_that_fell_last_closes_when_no_more_work_comes() {
        try (ControlFixture fleet = new ControlFixture(2)) {
            fleet.perSecond = 2;
            fleet.statusAboveLimit = 429;
            fleet.arrive(10, 20);
            assertThat(fleet.provider().phase()).isEqualTo(BreakerPhase.RAMPING);
            for (Job job : fleet.store
                    .find(JobQuery.all().state(JobState.PENDING).limit(500))
                    .items()) {
                fleet.store.cancel(job.id(), NOTE);
            }
            fleet.pass(Duration.ofMinutes(5));
            assertThat(fleet.store.controls()).isEmpty();
        }
    }

    @Test
    void a_budget_in_debt_is_filled_up_again_by_the_floor() {
        BudgetSettings small = BudgetSettings.OF_RESOURCE.capacity(140);
        RetryPolicy soon = RetryPolicy.fixed(Duration.ofSeconds(1)).maxAttempts(3);
        try (ControlFixture fleet = new ControlFixture(
                2, builder -> builder.retry(soon).control(ControlSettings.DEFAULT.resourceBudget(small)))) {
            put(fleet, "budget/resource/" + PROVIDER, "level=-1e300\nat=" + fleet.clock.instant());
            fleet.failure = new IllegalStateException("not now");
            JobId id = fleet.enqueue();
            fleet.pass(Duration.ofMillis(500));
            assertThat(fleet.store.find(id).orElseThrow().status().waitReason()).isEqualTo(WaitReason.BUDGET);
            fleet.failure = null;
            fleet.pass(Duration.ofMinutes(1));
            assertThat(state(fleet, id)).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void every_worker_of_a_process_hears_of_work() {
        try (ControlFixture fleet = new ControlFixture(0)) {
            fleet.add(builder -> builder.queues(Queue.of("a")).name("serves-a").poll(Duration.ofMinutes(1)));
            fleet.add(builder -> builder.queues(Queue.of("b")).name("serves-b").poll(Duration.ofMinutes(1)));
            fleet.pass(Duration.ofSeconds(601));
            JobId a = fleet.workers.get(1).enqueue(CALL.job("x").queue("a"));
            JobId b = fleet.workers.get(0).enqueue(CALL.job("x").queue("b"));
            fleet.pass(Duration.ofMillis(100));
            assertThat(List.of(state(fleet, a), state(fleet, b)))
                    .containsExactly(JobState.SUCCEEDED, JobState.SUCCEEDED);
        }
    }
}
