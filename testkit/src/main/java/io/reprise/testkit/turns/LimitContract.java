// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.turns;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowKey;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.fairness.StartGoal;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.LostClaim;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Groups and queues start no more jobs than their limits allow. */
public interface LimitContract extends StoreFixture {

    private static List<JobSpec> jobs(String group, int count) {
        return Collections.nCopies(count, TestJobs.spec("work").group(group).build());
    }

    private static TestClaims under(int max, GroupRules rules) {
        return TestClaims.upTo(max).demands(new Demand(JobSpec.DEFAULT_QUEUE, 1_000, rules));
    }

    private static Map<String, Integer> groups(List<Claim> claims) {
        Map<String, Integer> groups = new TreeMap<>();
        TestClaims.jobs(claims)
                .forEach(job ->
                        groups.merge(Objects.requireNonNullElse(job.spec().group(), "-"), 1, Integer::sum));
        return groups;
    }

    /** Claims until nothing more comes. */
    private List<Claim> all(GroupRules rules) {
        List<Claim> claims = new ArrayList<>();
        for (int empty = 0; empty < 5; ) {
            List<Claim> some = claim(under(50, rules));
            claims.addAll(some);
            empty = some.isEmpty() ? empty + 1 : 0;
        }
        return claims;
    }

    @Test
    default void no_more_jobs_of_a_group_run_than_its_limit_allows() {
        GroupRules rules = GroupRules.EQUAL
                .limit("*", FlowLimit.running(2))
                .limit("gold-*", FlowLimit.running(4))
                .limit("gold-1", FlowLimit.running(1));
        add(jobs("a", 6));
        add(jobs("gold-1", 6));
        add(jobs("gold-2", 6));
        add(TestJobs.many(3));
        List<Claim> claims = all(rules);
        assertThat(groups(claims)).isEqualTo(Map.of("a", 2, "gold-1", 1, "gold-2", 4, "-", 3));
        assertThat(claim(under(50, rules))).isEmpty();
        claims.forEach(this::succeed);
        assertThat(groups(all(rules))).isEqualTo(Map.of("a", 2, "gold-1", 1, "gold-2", 2));
    }

    private static List<JobSpec> ofType(String type, int count) {
        return Collections.nCopies(count, TestJobs.spec(type).build());
    }

    private static Map<String, Integer> types(List<Claim> claims) {
        Map<String, Integer> types = new TreeMap<>();
        TestClaims.jobs(claims).forEach(job -> types.merge(job.type(), 1, Integer::sum));
        return types;
    }

    @Test
    default void no_more_jobs_of_a_type_run_than_its_limit_allows() {
        GroupRules rules = GroupRules.EQUAL.type("slow", FlowLimit.running(2));
        add(ofType("slow", 6));
        add(ofType("fast", 5));
        add(Collections.nCopies(3, TestJobs.spec("slow").group("a").build()));
        List<Claim> claims = all(rules);
        assertThat(types(claims)).isEqualTo(Map.of("slow", 2, "fast", 5));
        assertThat(claim(under(50, rules))).isEmpty();
        assertThat(claim(under(50, rules).types("slow"))).isEmpty();
        claims.forEach(this::succeed);
        assertThat(types(all(rules))).isEqualTo(Map.of("slow", 2));
    }

    @Test
    default void no_more_jobs_of_a_type_start_than_its_rate_allows() {
        GroupRules rules = GroupRules.EQUAL
                .type("slow", FlowLimit.rate(1, Duration.ofHours(1)).burst(3))
                .limit("slow", FlowLimit.running(2));
        add(ofType("slow", 5));
        add(Collections.nCopies(3, TestJobs.spec("fast").group("slow").build()));
        assertThat(types(all(rules)))
                .as("a group of the same name is another thing")
                .isEqualTo(Map.of("slow", 3, "fast", 2));
        FlowGate flow = store().flow(JobSpec.DEFAULT_QUEUE, rules, "slow");
        assertThat(flow.fullTypes()).containsExactly("slow");
        assertThat(flow.reached(new FlowKey("slow", "slow")))
                .extracting(FlowGate.Reached::of)
                .containsExactly(FlowGate.Reached.Of.GROUP, FlowGate.Reached.Of.TYPE);
        assertThat(flow.reached(new FlowKey(null, "slow")).get(0).until())
                .isBetween(store().now(), store().now().plus(Duration.ofHours(1)));
        assertThat(flow.reached(new FlowKey(null, "fast"))).isEmpty();
    }

    @Test
    default void a_type_over_its_limit_is_not_in_the_way_of_others() {
        GroupRules rules = GroupRules.EQUAL.type("slow", FlowLimit.running(1));
        add(ofType("slow", 200));
        JobId other = add(TestJobs.spec("fast"));
        List<JobId> claimed = new ArrayList<>();
        // After a slow look for jobs of other types a store may rest before the next one.
        await(() -> claimed.addAll(TestClaims.ids(claim(under(1, rules)))) && claimed.contains(other));
        assertThat(claimed).hasSize(2);
    }

    @Test
    default void a_claim_takes_no_more_of_a_type_than_its_worker_has_room_for() {
        add(ofType("slow", 6));
        add(ofType("none", 3));
        add(ofType("fast", 3));
        GroupRules rules = GroupRules.EQUAL.taking(Map.of("slow", 2, "none", 0));
        List<Claim> claims = new ArrayList<>(claim(under(50, rules)));
        assertThat(types(claims)).containsEntry("slow", 2).doesNotContainKey("none");
        GroupRules full = GroupRules.EQUAL.taking(Map.of("slow", 0, "none", 0));
        await(() -> {
            claims.addAll(claim(under(50, full)));
            return types(claims).getOrDefault("fast", 0) == 3;
        });
        assertThat(types(claims)).isEqualTo(Map.of("slow", 2, "fast", 3));
    }

    @Test
    default void a_suspect_counts_and_waits_as_others_do() {
        GroupRules rules = GroupRules.EQUAL.limit("*", FlowLimit.running(1)).type("work", FlowLimit.running(2));
        JobId id = add(TestJobs.spec("work").group("a"));
        for (int losses = 0; losses < 2; losses++) {
            Claim lost = claimOne();
            settle(TestSettlements.loss(lost, only(lost)));
            awaitNextInstant();
        }
        add(jobs("a", 1));
        add(jobs("b", 1));
        add(jobs("c", 1));
        List<Claim> claims = all(rules);
        assertThat(TestClaims.ids(claims)).hasSize(2).contains(id);
        assertThat(groups(claims)).doesNotContainEntry("a", 2);
    }

    @Test
    default void room_comes_back_however_a_run_ends() {
        GroupRules rules = GroupRules.EQUAL.limit("*", FlowLimit.running(1));
        add(jobs("a", 5));
        Claim first = claimOne(under(5, rules));
        settle(TestSettlements.putBack(first, only(first)));
        Claim second = claimOne(under(5, rules));
        settle(TestSettlements.retry(second, only(second), Duration.ofHours(1)));
        Claim third = claimOne(under(5, rules).lease(Duration.ZERO));
        assertThat(claim(under(5, rules))).isEmpty();
        LostClaim lost = takeOver("reclaimer");
        assertThat(claim(under(5, rules))).as("it is still held").isEmpty();
        settle(TestSettlements.loss(lost.claim(), only(third)));
        awaitNextInstant();
        assertThat(groups(all(rules))).isEqualTo(Map.of("a", 1));
    }

    @Test
    default void retries_and_delayed_jobs_count_too_and_do_not_hold_up_others() {
        GroupRules rules = GroupRules.EQUAL.limit("*", FlowLimit.running(1));
        add(jobs("a", 3));
        Claim claim = claimOne(TestClaims.upTo(3));
        claim.jobs().forEach(job -> settle(TestSettlements.retry(claim, job, Duration.ZERO)));
        awaitNextInstant();
        assertThat(groups(all(rules))).isEqualTo(Map.of("a", 1));
        add(jobs("b", 1));
        add(TestJobs.many(1));
        assertThat(groups(all(rules))).isEqualTo(Map.of("b", 1, "-", 1));
    }

    @Test
    default void one_job_at_a_time_keeps_the_order_of_a_group() {
        GroupRules rules = GroupRules.EQUAL.limit("*", FlowLimit.running(1));
        List<JobId> a = add(jobs("a", 4));
        List<JobId> b = add(jobs("b", 4));
        List<JobId> started = new ArrayList<>();
        while (started.size() < 8) {
            List<Claim> claims = all(rules);
            assertThat(TestClaims.jobs(claims)).hasSize(2);
            started.addAll(TestClaims.ids(claims));
            claims.forEach(this::succeed);
        }
        assertThat(started).filteredOn(a::contains).isEqualTo(a);
        assertThat(started).filteredOn(b::contains).isEqualTo(b);
    }

    @Test
    default void no_more_jobs_of_a_group_start_than_its_rate_allows() {
        GroupRules rules = GroupRules.EQUAL
                .limit("*", FlowLimit.rate(1, Duration.ofHours(1)).burst(3))
                .limit("free", FlowLimit.running(100));
        add(jobs("a", 9));
        add(jobs("b", 2));
        add(jobs("free", 9));
        List<Claim> claims = all(rules);
        assertThat(groups(claims)).isEqualTo(Map.of("a", 3, "b", 2, "free", 9));
        claims.forEach(this::succeed);
        assertThat(claim(under(50, rules))).as("ended jobs free no rate").isEmpty();
    }

    @Test
    default void a_rate_lets_jobs_start_as_time_passes() {
        GroupRules rules = GroupRules.EQUAL.limit(
                "*", FlowLimit.rate(200, Duration.ofSeconds(1)).burst(1));
        add(jobs("a", 6));
        Instant before = store().now();
        List<Claim> claims = new ArrayList<>();
        await(() -> claims.addAll(claim(under(50, rules)))
                && TestClaims.jobs(claims).size() == 6);
        assertThat(claims)
                .hasSize(6)
                .allSatisfy(claim -> assertThat(claim.jobs()).hasSize(1));
        Duration took = Duration.between(before, claims.get(5).claimedAt());
        assertThat(took).isGreaterThanOrEqualTo(Duration.ofMillis(5 * 5 - 1));
    }

    @Test
    default void the_rate_of_a_queue_holds_for_all_its_jobs_together() {
        GroupRules rules =
                GroupRules.EQUAL.rate(FlowLimit.rate(1, Duration.ofHours(1)).burst(4));
        add(jobs("a", 3));
        add(TestJobs.many(3));
        assertThat(TestClaims.jobs(all(rules))).hasSize(4);
        assertThat(claim(under(50, rules))).isEmpty();
    }

    @Test
    default void many_full_groups_do_not_hide_one_that_may_start() {
        GroupRules rules = GroupRules.EQUAL.limit("*", FlowLimit.running(1));
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            specs.addAll(jobs("group-" + i, 2));
        }
        add(specs);
        assertThat(TestClaims.jobs(all(rules))).hasSize(60);
        JobId open = add(TestJobs.spec("work").group("zz"));
        List<JobId> found = new ArrayList<>();
        for (int claims = 0; claims < 20 && found.isEmpty(); claims++) {
            found.addAll(TestClaims.ids(claim(under(1, rules))));
        }
        assertThat(found).containsExactly(open);
    }

    @Test
    default void jobs_at_risk_come_first_within_their_priority() {
        GroupRules rules = GroupRules.EQUAL.goal(new StartGoal(Duration.ofMillis(20), true));
        List<JobId> old = add(jobs("z", 4));
        Instant before = store().now();
        await(() -> Duration.between(before, store().now()).toMillis() > 15);
        add(jobs("a", 4));
        JobId urgent = add(TestJobs.spec("work").group("b").priority(5));
        assertThat(TestClaims.ids(claim(under(4, rules)))).containsExactly(urgent, old.get(0), old.get(1), old.get(2));
        assertThat(TestClaims.ids(claim(under(1, rules)))).containsExactly(old.get(3));
        assertThat(groups(all(rules))).isEqualTo(Map.of("a", 4));
    }

    @Test
    default void many_workers_together_never_exceed_a_limit() throws InterruptedException {
        GroupRules rules = GroupRules.EQUAL.limit("*", FlowLimit.running(2));
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            specs.addAll(jobs("group-" + i, 12));
        }
        add(specs);
        Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
        AtomicInteger ended = new AtomicInteger();
        AtomicInteger exceeded = new AtomicInteger();
        List<Thread> workers = IntStream.range(0, 4)
                .mapToObj(n -> new Thread(() -> {
                    for (int tries = 0; tries < 5_000 && ended.get() < 48; tries++) {
                        for (Claim claim : claim(under(3, rules).by("worker-" + n))) {
                            for (Job job : claim.jobs()) {
                                AtomicInteger group = running.computeIfAbsent(
                                        String.valueOf(job.spec().group()), name -> new AtomicInteger());
                                if (group.incrementAndGet() > 2) {
                                    exceeded.incrementAndGet();
                                }
                            }
                            for (Job job : claim.jobs()) {
                                running.computeIfAbsent(
                                                String.valueOf(job.spec().group()), name -> new AtomicInteger())
                                        .decrementAndGet();
                                settle(TestSettlements.success(claim, job));
                                ended.incrementAndGet();
                            }
                        }
                    }
                }))
                .toList();
        workers.forEach(Thread::start);
        for (Thread worker : workers) {
            worker.join();
        }
        assertThat(exceeded).hasValue(0);
        assertThat(count(JobSpec.DEFAULT_QUEUE, JobState.SUCCEEDED)).isEqualTo(48);
    }
}
