// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.DueQueues;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Many queues: which of them have due jobs, and claims from many of them at once. */
public interface DueQueueContract extends StoreFixture {

    private List<String> due() {
        DueQueues found = store().dueQueues("", DueQueues.END, 1_000);
        assertThat(found.last()).isNull();
        return found.queues();
    }

    @Test
    default void due_queues_are_those_with_a_job_to_claim() {
        assertThat(due()).isEmpty();
        add(TestJobs.on("later").delay(Duration.ofHours(1)));
        add(TestJobs.on("paused"));
        store().pause("paused", NOTE);
        add(TestJobs.on("ready"));
        add(TestJobs.on("mixed").priority(9).delay(Duration.ofHours(1)));
        add(TestJobs.on("mixed").priority(-9));
        JobId parked = add(TestJobs.on("parked"));
        Claim claim = claimOne(TestClaims.upTo(1).from("parked"));
        settle(TestSettlements.park(claim, only(claim), "breaker/a"));
        assertThat(read(parked).status().holder()).isNull();
        assertThat(due()).containsExactly("mixed", "ready");
        store().resume("paused", NOTE);
        assertThat(due()).containsExactly("mixed", "paused", "ready");
    }

    @Test
    default void a_queue_whose_deadlines_have_passed_may_be_named_but_not_one_without_due_jobs() {
        JobId late = add(TestJobs.on("late").policy(RetryPolicy.unset().deadline(Duration.ofMillis(1))));
        await(() -> store().now().isAfter(read(late).times().deadline()));
        add(TestJobs.on("later").delay(Duration.ofHours(1)));
        add(TestJobs.on("ready"));
        assertThat(due()).contains("ready").doesNotContain("later");
    }

    @Test
    default void retries_and_suspects_make_a_queue_due() {
        add(TestJobs.on("retry"));
        add(TestJobs.on("suspect"));
        Claim retry = claimOne(TestClaims.upTo(1).from("retry"));
        settle(TestSettlements.retry(retry, only(retry), Duration.ZERO));
        for (int losses = 0; losses < 2; losses++) {
            Claim lost = claimOne(TestClaims.upTo(1).from("suspect"));
            settle(TestSettlements.loss(lost, only(lost)));
        }
        await(() -> due().containsAll(List.of("retry", "suspect")));
        Claim again = claimOne(TestClaims.upTo(1).from("retry"));
        settle(TestSettlements.retry(again, only(again), Duration.ofHours(1)));
        assertThat(due()).containsExactly("suspect");
    }

    @Test
    default void a_look_goes_on_where_the_last_one_ended() {
        List<JobSpec> jobs = new ArrayList<>();
        Set<String> wanted = new HashSet<>();
        for (int i = 0; i < 300; i++) {
            String name = "queue-%03d".formatted(i);
            if (i % 3 == 0) {
                wanted.add(name);
                jobs.add(TestJobs.on(name).build());
            }
            jobs.add(TestJobs.on(name).delay(Duration.ofHours(1)).build());
        }
        add(jobs);
        List<String> found = new ArrayList<>();
        String after = "";
        int looks = 0;
        while (after != null) {
            DueQueues page = store().dueQueues(after, DueQueues.END, 10);
            found.addAll(page.queues());
            assertThat(page.last() == null || page.last().compareTo(after) > 0)
                    .as("looks move on")
                    .isTrue();
            after = page.last();
            looks++;
        }
        assertThat(found).isSorted().doesNotHaveDuplicates();
        assertThat(new HashSet<>(found)).isEqualTo(wanted);
        assertThat(looks).as("a look ends").isGreaterThan(1);
    }

    @Test
    default void a_look_keeps_within_its_bounds() {
        add(List.of(
                TestJobs.on("acme/a").build(),
                TestJobs.on("acme/b").build(),
                TestJobs.on("acme").build(),
                TestJobs.on("acme-2/a").build(),
                TestJobs.on("Acme/a").build(),
                TestJobs.on("zeta/a").build()));
        assertThat(store().dueQueues("acme/", "acme0", 100).queues()).containsExactly("acme/a", "acme/b");
        assertThat(store().dueQueues("acme/a", "acme0", 100).queues()).containsExactly("acme/b");
        assertThat(store().dueQueues("acme/b", "acme0", 100)).isEqualTo(new DueQueues(List.of(), null));
    }

    @Test
    default void one_claim_takes_from_many_queues() {
        List<String> names = IntStream.range(0, 150).mapToObj(i -> "queue-" + i).toList();
        List<JobSpec> jobs = new ArrayList<>();
        names.forEach(
                name -> jobs.addAll(Collections.nCopies(3, TestJobs.on(name).build())));
        List<JobId> ids = add(jobs);
        store().pause("queue-7", NOTE);
        store().limit("queue-8", 1, NOTE);
        Demand[] demands = names.stream()
                .map(name -> new Demand(name, name.equals("queue-9") ? 2 : 1_000))
                .toArray(Demand[]::new);
        List<Claim> claims = new ArrayList<>();
        await(() -> claims.addAll(claim(TestClaims.upTo(1_000).demands(demands)))
                && TestClaims.jobs(claims).size() == 450 - 3 - 2);
        assertThat(TestClaims.ids(claims)).doesNotHaveDuplicates().isSubsetOf(ids);
        assertThat(claims).extracting(Claim::token).doesNotHaveDuplicates();
        assertThat(claims)
                .allSatisfy(
                        claim -> assertThat(claim.jobs()).extracting(Job::queue).containsOnly(claim.queue()));
        assertThat(ofQueue(claims, "queue-7")).isZero();
        assertThat(ofQueue(claims, "queue-8")).isEqualTo(1);
        claims.forEach(this::succeed);
        assertThat(due()).containsExactly("queue-8");
    }

    private static long ofQueue(List<Claim> claims, String queue) {
        return TestClaims.jobs(claims).stream()
                .filter(job -> job.queue().equals(queue))
                .count();
    }

    @Test
    default void queues_asked_first_give_first() {
        for (String queue : List.of("a", "b", "c", "d")) {
            add(List.of(
                    TestJobs.on(queue).build(), TestJobs.on(queue).priority(5).build()));
        }
        List<Claim> claims = claim(TestClaims.upTo(5).from("c", "a", "d", "b"));
        assertThat(TestClaims.jobs(claims)).extracting(Job::queue).containsExactly("c", "c", "a", "a", "d");
        assertThat(TestClaims.jobs(claims))
                .extracting(job -> job.spec().priority())
                .containsExactly(5, 0, 5, 0, 5);
    }

    @Test
    default void each_of_many_queues_keeps_a_share_for_retries() {
        for (String queue : List.of("a", "b")) {
            add(Collections.nCopies(5, TestJobs.on(queue).build()));
            Claim claim = claimOne(TestClaims.upTo(5).from(queue));
            claim.jobs().forEach(job -> settle(TestSettlements.retry(claim, job, Duration.ZERO)));
            add(Collections.nCopies(20, TestJobs.on(queue).build()));
        }
        awaitNextInstant();
        List<Claim> claims = claim(TestClaims.upTo(20)
                .demands(new Demand("a", 10), new Demand("b", 10))
                .retryShare(0.2));
        assertThat(claims).hasSize(2).allSatisfy(claim -> {
            assertThat(claim.jobs()).hasSize(10);
            assertThat(claim.jobs()).filteredOn(job -> job.attempts() > 0).hasSize(2);
        });
    }

    @Test
    default void of_many_queues_one_suspect_is_claimed_and_it_counts() {
        for (String queue : List.of("a", "b")) {
            add(TestJobs.on(queue));
            for (int losses = 0; losses < 2; losses++) {
                Claim lost = claimOne(TestClaims.upTo(1).from(queue));
                settle(TestSettlements.loss(lost, only(lost)));
            }
            add(List.of(TestJobs.on(queue).build(), TestJobs.on(queue).build()));
        }
        await(() -> due().containsAll(List.of("a", "b")));
        List<Claim> claims = claim(TestClaims.upTo(3).from("a", "b"));
        assertThat(claims).filteredOn(Claim::alone).hasSize(1);
        assertThat(TestClaims.jobs(claims)).hasSize(3);
        assertThat(claim(TestClaims.upTo(10).from("a", "b").suspects(false))).allMatch(claim -> !claim.alone());
    }

    @Test
    default void two_workers_never_get_the_same_job_of_many_queues() throws InterruptedException {
        List<String> names = IntStream.range(0, 40).mapToObj(i -> "queue-" + i).toList();
        List<JobSpec> jobs = new ArrayList<>();
        names.forEach(
                name -> jobs.addAll(Collections.nCopies(5, TestJobs.on(name).build())));
        List<JobId> ids = add(jobs);
        List<JobId> taken = Collections.synchronizedList(new ArrayList<>());
        List<Thread> workers = IntStream.range(0, 4)
                .mapToObj(n -> new Thread(() -> {
                    List<String> mine = new ArrayList<>(names);
                    Collections.rotate(mine, 10 * n);
                    for (int claims = 0; taken.size() < ids.size() && claims < 10_000; claims++) {
                        taken.addAll(TestClaims.ids(
                                claim(TestClaims.upTo(20).by("worker-" + n).from(mine.toArray(String[]::new)))));
                    }
                }))
                .toList();
        workers.forEach(Thread::start);
        for (Thread worker : workers) {
            worker.join();
        }
        assertThat(taken).containsExactlyInAnyOrderElementsOf(ids);
    }
}
