// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.store.ClaimRequest;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.CountedAs;
import io.reprise.store.Settlement;
import io.reprise.store.Suspects;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** How many looks claims by type cost. */
class FoundJobsTest {

    private static final List<String> QUEUE = List.of("default");
    private static final ClaimRequest WISH = new ClaimRequest(
            "w", Duration.ofSeconds(30), 100, List.of(new Demand("default", 100)), 0.1, Suspects.NONE, Set.of("video"));

    private final AtomicLong nanos = new AtomicLong();
    private final FoundJobs found = new FoundJobs(nanos::get);

    /** The jobs that wait, by id, of which a look finds the first that are not leased. */
    private final List<Long> waiting =
            new ArrayList<>(LongStream.range(0, 10_000).boxed().toList());

    private int looks;

    private List<Long> claim(int wanted) {
        FoundJobs.Plan plan = found.plan(WISH, QUEUE, wanted);
        if (plan.isNeeded()) {
            look(plan, Duration.ofMillis(1));
        }
        try (FoundJobs.Taken taken = found.taken(WISH)) {
            List<Long> ids = taken.take("default", wanted, 0);
            List<Long> leased = ids.stream().filter(waiting::contains).toList();
            waiting.removeAll(leased);
            taken.leased("default", leased.size());
            return leased;
        }
    }

    private void look(FoundJobs.Plan plan, Duration took) {
        looks++;
        FoundJobs.Stock stock = new FoundJobs.Stock();
        List<Long> some = waiting.subList(0, Math.min(plan.jobs(), waiting.size()));
        some.forEach(id -> stock.add(id, false));
        nanos.addAndGet(took.toNanos());
        Map<String, FoundJobs.Stock> stocks = new HashMap<>(Map.of("default", stock));
        found.scanned(WISH, plan, stocks, some.size() >= plan.jobs());
    }

    @Test
    void jobs_that_end_leave_what_was_found_as_it_is() {
        claim(100);
        claim(100);
        int before = looks;
        found.settled(List.of(settlement(new Settlement.Succeed(null)), settlement(new Settlement.Cancel())));
        assertThat(claim(100)).hasSize(100);
        assertThat(looks).isEqualTo(before);
        found.settled(List.of(settlement(new Settlement.Succeed(null)), settlement(new Settlement.PutBack())));
        assertThat(claim(100)).hasSize(100);
        assertThat(looks).as("after a job came back").isEqualTo(before + 1);
    }

    private static Settlement settlement(Settlement.Next next) {
        return new Settlement(new JobId(1), 1, CountedAs.ATTEMPT, Duration.ZERO, next, null, null);
    }

    @Test
    void one_look_serves_many_claims() {
        for (int i = 0; i < 50; i++) {
            assertThat(claim(100)).hasSize(100);
        }
        assertThat(looks).isLessThan(10);
        assertThat(waiting).hasSize(5_000).startsWith(5_000L);
    }

    @Test
    void jobs_that_are_added_are_looked_for_before_the_next_claim() {
        claim(100);
        claim(100);
        int before = looks;
        claim(100);
        assertThat(looks).isEqualTo(before);
        found.changed();
        waiting.add(0, 77_777L);
        assertThat(claim(1)).containsExactly(77_777L);
    }

    @Test
    void what_was_found_a_while_ago_is_not_used() {
        claim(100);
        claim(100);
        nanos.addAndGet(Duration.ofMillis(101).toNanos());
        waiting.add(0, 77_777L);
        assertThat(claim(1)).containsExactly(77_777L);
    }

    @Test
    void a_claim_that_finds_too_little_here_looks_again() {
        waiting.subList(3, waiting.size()).clear();
        assertThat(claim(2)).hasSize(2);
        waiting.addAll(List.of(50_000L, 50_001L));
        assertThat(claim(3)).containsExactly(2L, 50_000L, 50_001L);
        assertThat(claim(1)).isEmpty();
    }

    @Test
    void after_a_slow_look_the_next_one_waits() {
        waiting.subList(0, 9_999).clear();
        look(found.plan(WISH, QUEUE, 100), Duration.ofSeconds(1));
        assertThat(claim(100)).hasSize(1);
        waiting.add(50_000L);
        assertThat(claim(100)).isEmpty();
        assertThat(looks).isEqualTo(1);
        nanos.addAndGet(Duration.ofSeconds(11).toNanos());
        assertThat(claim(100)).containsExactly(50_000L);
    }

    @Test
    void a_look_does_not_bring_back_what_another_thread_is_leasing() {
        claim(100);
        try (FoundJobs.Taken other = found.taken(WISH)) {
            FoundJobs.Plan first = found.plan(WISH, QUEUE, 100);
            look(first, Duration.ofMillis(1));
            List<Long> taken = other.take("default", 100, 0);
            found.changed();
            // The lease of the other one is not there yet, so the look finds its jobs too.
            FoundJobs.Plan plan = found.plan(WISH, QUEUE, 100);
            look(plan, Duration.ofMillis(1));
            assertThat(found.taken(WISH).take("default", 100, 0)).isNotEmpty().doesNotContainAnyElementsOf(taken);
        }
    }

    @Test
    void who_finds_that_others_were_faster_looks_again() {
        claim(100);
        claim(100);
        int before = looks;
        waiting.subList(0, 150).clear();
        assertThat(claim(100)).isEmpty();
        assertThat(claim(100)).hasSize(100);
        assertThat(looks).isEqualTo(before + 1);
    }

    @Test
    void of_several_threads_one_looks_and_the_others_wait_for_what_it_finds() throws Exception {
        FoundJobs.Plan mine = found.plan(WISH, QUEUE, 100);
        FutureTask<FoundJobs.Plan> other = new FutureTask<>(() -> found.plan(WISH, QUEUE, 1));
        Thread thread = new Thread(other, "other");
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            LockSupport.parkNanos(100_000);
        }
        look(mine, Duration.ofMillis(1));
        assertThat(other.get().isNeeded()).isFalse();
        assertThat(other.get().stocked()).isTrue();
        assertThat(looks).isEqualTo(1);
    }

    @Test
    void who_waited_for_a_look_that_found_too_little_for_all_looks_again() throws Exception {
        claim(1);
        FoundJobs.Plan mine = found.plan(WISH, QUEUE, 900);
        FutureTask<FoundJobs.Plan> other = new FutureTask<>(() -> found.plan(WISH, QUEUE, 1_000));
        Thread thread = new Thread(other, "other");
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            LockSupport.parkNanos(100_000);
        }
        look(mine, Duration.ofMillis(1));
        assertThat(other.get().isNeeded()).isTrue();
    }

    @Test
    void who_waits_for_a_look_that_fails_looks_itself() throws Exception {
        FoundJobs.Plan mine = found.plan(WISH, QUEUE, 100);
        FutureTask<FoundJobs.Plan> other = new FutureTask<>(() -> found.plan(WISH, QUEUE, 1));
        Thread thread = new Thread(other, "other");
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != Thread.State.WAITING) {
            LockSupport.parkNanos(100_000);
        }
        found.failed(WISH, mine);
        assertThat(other.get().isNeeded()).isTrue();
    }

    /** As a claim does it: what other threads took from here first is no reason to return with nothing. */
    private List<Long> claimBeside(int wanted) {
        List<Long> leased = List.of();
        boolean again = true;
        while (again && leased.isEmpty()) {
            FoundJobs.Plan plan = found.plan(WISH, QUEUE, wanted);
            if (plan.isNeeded()) {
                synchronized (waiting) {
                    look(plan, Duration.ofNanos(1));
                }
            }
            again = plan.stocked();
            try (FoundJobs.Taken taken = found.taken(WISH)) {
                List<Long> ids = taken.take("default", wanted, 0);
                synchronized (waiting) {
                    leased = ids.stream().filter(waiting::remove).toList();
                }
                taken.leased("default", leased.size());
            }
        }
        return leased;
    }

    @Test
    void threads_that_claim_at_once_get_each_job_once_with_few_looks() throws Exception {
        int threads = 8;
        int claims = 40;
        List<FutureTask<List<Long>>> tasks = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            FutureTask<List<Long>> task = new FutureTask<>(() -> {
                List<Long> mine = new ArrayList<>();
                for (int n = 0; n < claims; n++) {
                    mine.addAll(claimBeside(10));
                }
                return mine;
            });
            tasks.add(task);
            Thread thread = new Thread(task, "claimer");
            thread.setDaemon(true);
            thread.start();
        }
        List<Long> all = new ArrayList<>();
        for (FutureTask<List<Long>> task : tasks) {
            all.addAll(task.get());
        }
        assertThat(all).doesNotHaveDuplicates().hasSize(10_000 - waiting.size());
        assertThat(looks).isLessThan(threads * claims);
    }
}
