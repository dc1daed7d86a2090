// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.fairness.FlowGate;
import io.reprise.fairness.FlowLimit;
import io.reprise.fairness.GroupRules;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.LostClaim;
import io.reprise.store.Suspects;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
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
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Worlds of groups, types and limits, drawn by seed, in which workers die and jobs fail. Limits are never exceeded, turns
 * are kept, and nobody starves. Deliberate bugs prove that the checks find what they look for.
 */
class FairWorldTest {

    private static final Duration LEASE = Duration.ofSeconds(5);
    private static final int STEPS = 400;

    /** What was wrong in a world. */
    private record Broken(String what) {}

    private static final class World {

        private final Random random;
        private final ManualClock clock = new ManualClock();
        private final InMemoryJobStore store = new InMemoryJobStore(clock);
        private final UnaryOperator<ClaimRequest> bug;
        private final GroupRules rules;
        private final List<Claim> held = new ArrayList<>();
        private final Map<JobId, Job> running = new HashMap<>();
        private final Map<JobId, Job> unended = new TreeMap<>();
        private final Set<JobId> begun = new HashSet<>();
        private final Map<String, List<Instant>> starts = new TreeMap<>();
        private final List<Broken> broken = new ArrayList<>();
        private int jobs;
        private int ended;

        World(long seed, UnaryOperator<ClaimRequest> bug) {
            this.random = new Random(seed);
            this.bug = bug;
            GroupRules drawn = GroupRules.EQUAL;
            if (random.nextBoolean()) {
                drawn = drawn.limit("*", FlowLimit.running(1 + random.nextInt(3)));
            }
            if (random.nextBoolean()) {
                drawn = drawn.limit("group-1", rate());
            }
            if (random.nextBoolean()) {
                drawn = drawn.type("slow", FlowLimit.running(1 + random.nextInt(2)));
            }
            if (random.nextInt(3) == 0) {
                drawn = drawn.type("fast", rate());
            }
            if (random.nextInt(3) == 0) {
                drawn = drawn.rate(rate());
            }
            if (random.nextInt(3) == 0) {
                drawn = drawn.limit("group-2", FlowLimit.inOrder());
            }
            this.rules = drawn;
        }

        private FlowLimit rate() {
            return FlowLimit.rate(1 + random.nextInt(5), Duration.ofSeconds(1)).burst(1 + random.nextInt(3));
        }

        List<Broken> run() {
            for (int step = 0; step < STEPS && broken.isEmpty(); step++) {
                switch (random.nextInt(8)) {
                    case 0, 1 -> add();
                    case 2, 3, 4 -> claim();
                    case 5, 6 -> settle();
                    default -> lose();
                }
                clock.advance(Duration.ofMillis(random.nextInt(400)));
            }
            drain();
            return broken;
        }

        private void add() {
            List<JobSpec> specs = new ArrayList<>();
            for (int i = 0; i < 1 + random.nextInt(4); i++) {
                JobSpec.Builder spec = TestJobs.spec(random.nextInt(3) == 0 ? "slow" : "fast");
                int group = random.nextInt(5);
                specs.add(
                        group == 0 ? spec.build() : spec.group("group-" + group).build());
            }
            store.insert(specs)
                    .forEach(added ->
                            unended.put(added.id(), store.find(added.id()).orElseThrow()));
            jobs += specs.size();
        }

        private void claim() {
            ClaimRequest asked = new ClaimRequest(
                    "worker-" + random.nextInt(3),
                    LEASE,
                    1 + random.nextInt(4),
                    List.of(new ClaimRequest.Demand(JobSpec.DEFAULT_QUEUE, 10, rules)),
                    0.2,
                    Suspects.upTo(2),
                    Set.of());
            for (Claim claim : store.claim(bug.apply(asked))) {
                held.add(claim);
                claim.jobs().forEach(job -> {
                    running.put(job.id(), job);
                    started(job, claim.claimedAt());
                });
            }
            checkRunning();
        }

        private void started(Job job, Instant at) {
            String group = job.spec().group();
            note("", rules.rate(), at);
            note(FlowGate.ofType(job.type()), rules.limitOfType(job.type()), at);
            if (group != null) {
                note(group, rules.limitOf(group), at);
                checkOrder(job, group);
            }
        }

        /**
         * In a group in order, all jobs that started before have ended, and so have all of the same type that came before.
         */
        private void checkOrder(Job job, String group) {
            if (rules.limitOf(group).ordered()) {
                unended.values().stream()
                        .filter(other -> group.equals(other.spec().group())
                                && !other.id().equals(job.id()))
                        .filter(other -> begun.contains(other.id())
                                || (other.type().equals(job.type())
                                        && other.id().compareTo(job.id()) < 0))
                        .findFirst()
                        .ifPresent(other -> broken.add(
                                new Broken("order of '" + group + "': " + job.id() + " before " + other.id())));
                begun.add(job.id());
            }
        }

        /** In every stretch of time no more start than the rate allows, and the burst. */
        private void note(String key, FlowLimit limit, Instant at) {
            List<Instant> all = starts.computeIfAbsent(key, name -> new ArrayList<>());
            all.add(at);
            if (limit.starts() == null || limit.per() == null) {
                return;
            }
            for (int i = 0; i < all.size(); i++) {
                double seconds = Duration.between(all.get(i), at).toNanos() / 1e9;
                double most = seconds * limit.starts() / (limit.per().toNanos() / 1e9) + limit.burst();
                if (all.size() - i > most + 1e-3) {
                    broken.add(new Broken("rate of '" + key + "': " + (all.size() - i) + " in " + seconds + " s"));
                    return;
                }
            }
        }

        private void checkRunning() {
            Map<String, Integer> counts = new TreeMap<>();
            running.values().forEach(job -> {
                counts.merge(FlowGate.ofType(job.type()), 1, Integer::sum);
                Optional.ofNullable(job.spec().group()).ifPresent(group -> counts.merge(group, 1, Integer::sum));
            });
            counts.forEach((key, count) -> {
                Integer most =
                        (key.startsWith("/") ? rules.limitOfType(key.substring(1)) : rules.limitOf(key)).running();
                if (most != null && count > most) {
                    broken.add(new Broken("running of '" + key + "': " + count + " of " + most));
                }
            });
        }

        private void settle() {
            if (held.isEmpty()) {
                return;
            }
            Claim claim = held.remove(random.nextInt(held.size()));
            for (Job job : claim.jobs()) {
                end(claim, job, List.of(0, 1, 3, 3).get(random.nextInt(4)));
            }
        }

        private void end(Claim claim, Job job, int how) {
            store.settle(List.of(
                    switch (how) {
                        case 0 -> TestSettlements.putBack(claim, job);
                        case 1 -> TestSettlements.retry(claim, job, Duration.ofMillis(random.nextInt(2_000)));
                        case 2 -> TestSettlements.loss(claim, job);
                        default -> TestSettlements.success(claim, job);
                    }));
            running.remove(job.id());
            if (how > 2) {
                unended.remove(job.id());
            }
            ended += how > 2 ? 1 : 0;
        }

        /** A worker dies: its jobs count until they are taken over and settled. */
        private void lose() {
            if (held.isEmpty() || random.nextInt(3) > 0) {
                return;
            }
            clock.advance(LEASE);
            for (LostClaim lost : store.takeOver("reclaimer", LEASE, 100)) {
                held.removeIf(claim -> claim.token() == lost.lostToken());
                for (Job job : lost.claim().jobs()) {
                    end(lost.claim(), job, random.nextBoolean() ? 2 : 1);
                }
            }
        }

        /** Nobody starves: all jobs end once workers go on. */
        private void drain() {
            for (int i = 0; i < 20_000 && ended < jobs && broken.isEmpty(); i++) {
                claim();
                while (!held.isEmpty()) {
                    Claim claim = held.remove(0);
                    claim.jobs().forEach(job -> end(claim, job, 3));
                }
                clock.advance(Duration.ofMillis(200));
            }
            if (broken.isEmpty() && ended < jobs) {
                broken.add(new Broken("starved: " + (jobs - ended) + " of " + jobs));
            }
        }
    }

    private static int brokenWorlds(long first, int worlds, UnaryOperator<ClaimRequest> bug, String what) {
        int broken = 0;
        for (long seed = first; seed < first + worlds; seed++) {
            broken += new World(seed, bug).run().stream().anyMatch(found -> found.what.startsWith(what)) ? 1 : 0;
        }
        return broken;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 101, 201, 301, 401})
    void limits_are_never_exceeded_and_nobody_starves(long first) {
        for (long seed = first; seed < first + 100; seed++) {
            assertThat(new World(seed, request -> request).run())
                    .as("world " + seed)
                    .isEmpty();
        }
    }

    private static ClaimRequest under(ClaimRequest request, UnaryOperator<GroupRules> change) {
        List<ClaimRequest.Demand> demands = request.demands().stream()
                .map(each -> new ClaimRequest.Demand(each.queue(), each.max(), change.apply(each.rules())))
                .toList();
        return request.of(demands, request.max(), request.suspects());
    }

    @Test
    void a_worker_that_does_not_count_what_runs_is_found() {
        Random sometimes = new Random(1);
        UnaryOperator<ClaimRequest> bug = request -> sometimes.nextInt(4) > 0
                ? request
                : under(request, rules -> new GroupRules(Map.of(), Map.of(), Map.of(), Map.of(), rules.rate()));
        assertThat(brokenWorlds(1, 40, bug, "running")).isPositive();
    }

    @Test
    void a_worker_that_does_not_keep_a_rate_is_found() {
        Random sometimes = new Random(1);
        UnaryOperator<ClaimRequest> bug =
                request -> sometimes.nextInt(4) > 0 ? request : under(request, rules -> GroupRules.EQUAL);
        assertThat(brokenWorlds(1, 40, bug, "rate")).isPositive();
    }

    @Test
    void a_worker_that_passes_a_failing_job_by_is_found() {
        UnaryOperator<ClaimRequest> bug = request -> under(
                request,
                rules -> rules.limitOf("group-2").ordered() ? rules.limit("group-2", FlowLimit.running(1)) : rules);
        assertThat(brokenWorlds(1, 40, bug, "order")).isPositive();
    }

    @Test
    void a_limit_that_lets_nothing_start_is_found() {
        UnaryOperator<ClaimRequest> bug = request -> under(request, rules -> rules.taking(Map.of("slow", 0)));
        assertThat(brokenWorlds(1, 5, bug, "starved")).isEqualTo(5);
    }

    /** Starts of five groups that all wait, after ten rounds. */
    private static Map<String, Integer> startsAfterTenRounds(UnaryOperator<ClaimRequest> bug) {
        World world = new World(1, bug);
        for (int group = 0; group < 5; group++) {
            world.store.insert(Collections.nCopies(
                    40, TestJobs.spec("fast").group("group-" + group).build()));
        }
        Map<String, Integer> starts = new TreeMap<>();
        for (int i = 0; i < 50; i++) {
            ClaimRequest request = bug.apply(TestClaims.upTo(1).build());
            TestClaims.jobs(world.store.claim(request))
                    .forEach(job -> starts.merge(String.valueOf(job.spec().group()), 1, Integer::sum));
        }
        return starts;
    }

    @Test
    void turns_are_kept_and_a_claim_that_forgets_whose_turn_it_is_is_found() {
        assertThat(startsAfterTenRounds(request -> request))
                .hasSize(5)
                .allSatisfy((group, starts) -> assertThat(starts).isEqualTo(10));
        AtomicInteger fresh = new AtomicInteger(1);
        UnaryOperator<ClaimRequest> forgets = request -> new ClaimRequest(
                request.worker(),
                request.lease(),
                request.max(),
                request.demands(),
                request.retryShare(),
                request.suspects(),
                request.types(),
                request.others(),
                request.remote(),
                fresh.incrementAndGet());
        assertThat(startsAfterTenRounds(forgets)).as("the first group has all").hasSize(2);
    }
}
