// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.turns;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.fairness.GroupRules;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobSpec.Needs;
import io.reprise.job.JobState;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest.Demand;
import io.reprise.store.DueQueues;
import io.reprise.store.Settlement;
import io.reprise.testkit.fixture.StoreFixture;
import io.reprise.testkit.fixture.TestClaims;
import io.reprise.testkit.fixture.TestJobs;
import io.reprise.testkit.fixture.TestSettlements;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The groups of a queue take turns. A store may remember whose turn it is after a test has ended, so tests of the order
 * have a queue each.
 */
public interface GroupContract extends StoreFixture {

    private static List<JobSpec> jobs(String group, int count) {
        return jobs(JobSpec.DEFAULT_QUEUE, group, count);
    }

    private static List<JobSpec> jobs(String queue, String group, int count) {
        return Collections.nCopies(count, TestJobs.on(queue).group(group).build());
    }

    private static List<String> groups(List<Claim> claims) {
        return TestClaims.jobs(claims).stream()
                .map(job -> Objects.requireNonNullElse(job.spec().group(), "-"))
                .toList();
    }

    private List<String> oneByOne(String queue, int claims) {
        List<String> groups = new ArrayList<>();
        for (int i = 0; i < claims; i++) {
            groups.addAll(groups(claim(TestClaims.upTo(1).from(queue))));
        }
        return groups;
    }

    @Test
    default void queues_of_jobs_with_needs_are_found_beside_the_queue_that_they_name() {
        for (String name : List.of("mail", "mail2", "mailbox", "mail@x", "mail@needs", "mai")) {
            add(TestJobs.on(name));
        }
        add(TestJobs.on("mail").needs(List.of("gpu", "eu")));
        add(TestJobs.on("mail").needs(List.of("gpu")));
        add(TestJobs.on("mail").needs(List.of("later")).delay(Duration.ofHours(1)));
        add(TestJobs.on("mailbox").needs(List.of("gpu")));
        DueQueues beside = store().dueQueues(Needs.after("mail"), Needs.before("mail"), 100);
        assertThat(beside.queues()).containsExactlyInAnyOrder("mail@needs:eu:gpu", "mail@needs:gpu");
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10).from("mail")))).hasSize(1);
        List<Claim> claims = claim(TestClaims.upTo(10).from("mail@needs:gpu"));
        assertThat(TestClaims.jobs(claims))
                .singleElement()
                .satisfies(job -> assertThat(job.spec().needs()).containsExactly("gpu"));
    }

    @Test
    default void groups_take_turns_within_a_batch() {
        add(jobs("batch", "noisy", 50));
        add(jobs("batch", "b", 2));
        add(jobs("batch", "c", 1));
        assertThat(groups(claim(TestClaims.upTo(7).from("batch"))))
                .containsExactly("b", "c", "noisy", "b", "noisy", "noisy", "noisy");
    }

    @Test
    default void the_next_claim_goes_on_with_the_next_group() {
        add(jobs("next", "a", 20));
        add(jobs("next", "b", 20));
        add(jobs("next", "c", 20));
        assertThat(oneByOne("next", 7)).containsExactly("a", "b", "c", "a", "b", "c", "a");
        assertThat(groups(claim(TestClaims.upTo(4).from("next")))).containsExactly("b", "c", "a", "b");
        assertThat(oneByOne("next", 2)).containsExactly("c", "a");
    }

    @Test
    default void many_groups_are_served_equally_often_claim_by_claim() {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            specs.add(TestJobs.on("many").group("group-" + i / 3).build());
        }
        add(specs);
        List<String> started = new ArrayList<>();
        for (int i = 0; i < 15; i++) {
            started.addAll(groups(claim(TestClaims.upTo(10).from("many"))));
        }
        for (int round = 0; round < 3; round++) {
            assertThat(started.subList(50 * round, 50 * round + 50)).doesNotHaveDuplicates();
        }
        assertThat(claim(TestClaims.upTo(10).from("many"))).isEmpty();
    }

    @Test
    default void what_comes_meanwhile_is_served_beside_many_groups() {
        for (int i = 0; i < 100; i++) {
            add(TestJobs.on("meanwhile").group("group-" + i));
        }
        Claim some = claimOne(TestClaims.upTo(5).from("meanwhile"));
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(5).from("meanwhile")))).hasSize(5);
        JobId urgent = add(TestJobs.on("meanwhile").group("group-7").priority(1));
        JobId ungrouped = add(TestJobs.on("meanwhile").priority(2));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1).from("meanwhile")))).containsExactly(ungrouped);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1).from("meanwhile")))).containsExactly(urgent);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(5).from("meanwhile")))).hasSize(5);
        Job retried = some.jobs().get(0);
        settle(TestSettlements.retry(some, retried, Duration.ZERO));
        awaitNextInstant();
        assertThat(TestClaims.ids(claim(TestClaims.upTo(5).from("meanwhile").retryShare(0.2))))
                .hasSize(5)
                .contains(retried.id());
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(5).from("meanwhile")))).hasSize(5);
        JobId plain = add(TestJobs.on("meanwhile"));
        JobId late = add(TestJobs.on("meanwhile").group("aaa"));
        List<JobId> round = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            round.addAll(TestClaims.ids(claim(TestClaims.upTo(5).from("meanwhile"))));
        }
        assertThat(round).contains(plain, late).doesNotHaveDuplicates().hasSize(78);
    }

    @Test
    default void the_limit_of_a_queue_holds_beside_many_groups() {
        for (int i = 0; i < 30; i++) {
            add(TestJobs.on("few").group("group-" + i));
        }
        claim(TestClaims.upTo(5).from("few"));
        claim(TestClaims.upTo(5).from("few"));
        store().limit("few", 12, NOTE);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(5).from("few")))).hasSize(2);
        assertThat(claim(TestClaims.upTo(5).from("few"))).isEmpty();
        store().limit("few", null, NOTE);
        store().pause("few", NOTE);
        assertThat(claim(TestClaims.upTo(5).from("few"))).isEmpty();
        store().resume("few", NOTE);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(20).from("few")))).hasSize(18);
    }

    @Test
    default void jobs_without_a_group_share_one_turn() {
        add(Collections.nCopies(30, TestJobs.on("shared").build()));
        add(jobs("shared", "a", 30));
        List<String> next = groups(claim(TestClaims.upTo(7).from("shared")));
        // A store may need one claim to see that a queue has groups.
        assertThat(oneByOne("shared", 4)).containsExactlyInAnyOrder("-", "a", "-", "a");
        assertThat(next).hasSize(7).contains("-");
        assertThat(groups(claim(TestClaims.upTo(6).from("shared"))))
                .containsExactlyInAnyOrder("-", "a", "-", "a", "-", "a");
    }

    @Test
    default void a_group_that_comes_late_is_served_within_one_round() {
        add(jobs("a", 300));
        assertThat(groups(claim(TestClaims.upTo(100).demands(new Demand("default", 100)))))
                .hasSize(100);
        JobId late = add(TestJobs.spec("work").group("z"));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(2)))).contains(late);
    }

    @Test
    default void within_a_group_the_first_come_is_the_first_served() {
        List<JobId> a = add(jobs("a", 5));
        List<JobId> b = add(jobs("b", 5));
        List<JobId> claimed = TestClaims.ids(claim(TestClaims.upTo(10)));
        assertThat(claimed).filteredOn(a::contains).isEqualTo(a);
        assertThat(claimed).filteredOn(b::contains).isEqualTo(b);
    }

    @Test
    default void a_turn_has_as_many_jobs_as_the_weight_says() {
        add(jobs("weights", "gold-1", 20));
        add(jobs("weights", "gold-2", 20));
        add(jobs("weights", "tin", 20));
        GroupRules rules = GroupRules.EQUAL.weight("gold-*", 3).weight("gold-2", 2);
        Demand demand = new Demand("weights", 100, rules);
        assertThat(groups(claim(TestClaims.upTo(8).demands(demand))))
                .containsExactly("gold-1", "gold-1", "gold-1", "gold-2", "gold-2", "tin", "gold-1", "gold-1");
        List<String> singles = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            singles.addAll(groups(claim(TestClaims.upTo(1).demands(demand))));
        }
        assertThat(singles).containsExactly("gold-1", "gold-2", "gold-2", "tin", "gold-1");
    }

    @Test
    default void priorities_come_before_turns() {
        add(jobs("a", 3));
        JobId urgent = add(TestJobs.spec("work").group("b").priority(5));
        JobId ungrouped = add(TestJobs.spec("work").priority(7));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1)))).containsExactly(ungrouped);
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1)))).containsExactly(urgent);
    }

    @Test
    default void a_claimed_job_of_a_group_is_not_claimed_again_and_comes_back_when_it_is_put_back() {
        JobId id = add(TestJobs.spec("work").group("a"));
        Claim claim = claimOne();
        assertThat(claim(TestClaims.upTo(10).by("worker-2"))).isEmpty();
        settle(TestSettlements.putBack(claim, only(claim)));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(10)))).containsExactly(id);
    }

    @Test
    default void retries_keep_their_share_beside_groups() {
        add(jobs("a", 10));
        Claim first = claimOne(TestClaims.upTo(10));
        first.jobs().forEach(job -> settle(TestSettlements.retry(first, job, Duration.ZERO)));
        awaitNextInstant();
        add(jobs("b", 30));
        List<Job> claimed = TestClaims.jobs(claim(TestClaims.upTo(10).retryShare(0.2)));
        assertThat(claimed).hasSize(10);
        assertThat(claimed).filteredOn(job -> job.attempts() > 0).hasSize(2);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(100)))).hasSize(30);
    }

    @Test
    default void delayed_jobs_and_retries_wait_together_until_they_get_their_turns() {
        add(jobs("a", 4));
        Claim claim = claimOne(TestClaims.upTo(4));
        claim.jobs().forEach(job -> settle(TestSettlements.retry(claim, job, Duration.ZERO)));
        add(jobs("b", 1));
        Claim other = claimOne(TestClaims.upTo(1).retryShare(0));
        settle(TestSettlements.retry(other, only(other), Duration.ZERO));
        add(List.of(TestJobs.spec("work").group("a").delay(Duration.ofHours(1)).build()));
        awaitNextInstant();
        awaitNextInstant();
        assertThat(store().giveTurns(Duration.ofHours(1), 100)).isZero();
        assertThat(store().giveTurns(Duration.ZERO, 3)).isEqualTo(3);
        assertThat(store().giveTurns(Duration.ZERO, 100)).isEqualTo(2);
        assertThat(store().giveTurns(Duration.ZERO, 100)).isZero();
        assertThat(groups(claim(TestClaims.upTo(2).retryShare(1)))).containsExactlyInAnyOrder("a", "b");
        assertThat(groups(claim(TestClaims.upTo(100)))).containsExactly("a", "a", "a");
    }

    @Test
    default void a_job_that_runs_gets_no_turn_and_a_retry_needs_a_new_one() {
        add(TestJobs.spec("work").group("a"));
        Claim first = claimOne();
        settle(TestSettlements.retry(first, only(first), Duration.ZERO));
        awaitNextInstant();
        awaitNextInstant();
        assertThat(store().giveTurns(Duration.ZERO, 100)).isEqualTo(1);
        Claim second = claimOne();
        assertThat(store().giveTurns(Duration.ZERO, 100)).isZero();
        settle(TestSettlements.retry(second, only(second), Duration.ZERO));
        awaitNextInstant();
        awaitNextInstant();
        assertThat(store().giveTurns(Duration.ZERO, 100)).isEqualTo(1);
        succeed(claimOne());
    }

    @Test
    default void parked_jobs_get_no_turn() {
        add(TestJobs.spec("work").group("a"));
        Claim claim = claimOne();
        settle(TestSettlements.park(claim, only(claim), "breaker/a"));
        awaitNextInstant();
        awaitNextInstant();
        assertThat(store().giveTurns(Duration.ZERO, 100)).isZero();
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
    }

    @Test
    default void suspects_of_groups_are_claimed() {
        JobId id = add(TestJobs.spec("work").group("a"));
        for (int losses = 0; losses < 2; losses++) {
            Claim lost = claimOne();
            settle(TestSettlements.loss(lost, only(lost)));
            awaitNextInstant();
        }
        awaitNextInstant();
        assertThat(store().giveTurns(Duration.ZERO, 100)).isZero();
        add(jobs("b", 3));
        List<Claim> claims = new ArrayList<>();
        await(() -> claims.addAll(claim(TestClaims.upTo(10)))
                && TestClaims.jobs(claims).size() == 4);
        assertThat(TestClaims.ids(claims)).contains(id);
        assertThat(claims).filteredOn(Claim::alone).hasSize(1);
    }

    @Test
    default void the_limit_of_a_queue_holds_for_all_groups_together() {
        store().limit("limit", 3, NOTE);
        add(jobs("limit", "a", 5));
        add(jobs("limit", "b", 5));
        assertThat(groups(claim(TestClaims.upTo(10).from("limit")))).containsExactly("a", "b", "a");
        assertThat(claim(TestClaims.upTo(10).from("limit"))).isEmpty();
    }

    @Test
    default void a_paused_queue_gives_no_jobs_of_groups() {
        add(jobs("a", 5));
        store().pause("default", NOTE);
        assertThat(claim(TestClaims.upTo(10))).isEmpty();
        store().resume("default", NOTE);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(10)))).hasSize(5);
    }

    @Test
    default void queues_with_jobs_of_groups_are_due() {
        add(TestJobs.on("grouped").group("a"));
        add(TestJobs.on("later").group("a").delay(Duration.ofHours(1)));
        add(TestJobs.on("mixed").group("a"));
        add(TestJobs.on("mixed").delay(Duration.ofHours(1)));
        add(TestJobs.on("running").group("a"));
        claimOne(TestClaims.upTo(1).from("running"));
        assertThat(store().dueQueues("", DueQueues.END, 1_000).queues())
                .contains("grouped", "mixed")
                .doesNotContain("later");
    }

    @Test
    default void jobs_of_groups_are_found_after_many_jobs_without_one() {
        for (String[] queues : new String[][] {{"large"}, {"large", "other"}}) {
            int jobs = 150;
            add(Collections.nCopies(jobs, TestJobs.on("large").build()));
            List<Claim> large = new ArrayList<>();
            await(() -> large.addAll(claim(TestClaims.upTo(jobs).from(queues)))
                    && TestClaims.jobs(large).size() == jobs);
            large.forEach(this::succeedAll);
            List<JobId> ids = add(jobs("large", "a", 3));
            List<Claim> claims = new ArrayList<>();
            await(() -> claims.addAll(claim(TestClaims.upTo(10).from(queues))));
            assertThat(TestClaims.ids(claims)).containsExactlyElementsOf(ids);
            claims.forEach(this::succeedAll);
        }
    }

    private void succeedAll(Claim claim) {
        settle(claim.jobs().stream()
                .map(job -> TestSettlements.success(claim, job))
                .toArray(Settlement[]::new));
    }

    @Test
    default void one_claim_takes_from_many_queues_with_groups() {
        List<JobSpec> specs = new ArrayList<>();
        List<String> names = IntStream.range(0, 12).mapToObj(i -> "queue-" + i).toList();
        for (String name : names) {
            for (String group : List.of("a", "b", "c")) {
                specs.add(TestJobs.on(name).group(group).build());
            }
            specs.add(TestJobs.on(name).build());
        }
        List<JobId> ids = add(specs);
        List<JobId> claimed = new ArrayList<>();
        await(() -> claimed.addAll(TestClaims.ids(claim(TestClaims.upTo(10).from(names.toArray(String[]::new)))))
                && claimed.size() >= ids.size());
        assertThat(claimed).containsExactlyInAnyOrderElementsOf(ids);
    }

    @Test
    default void claims_by_type_take_turns_too() {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            specs.add(TestJobs.spec("other").group("a").build());
            specs.add(TestJobs.spec("wanted").group("a").build());
            specs.add(TestJobs.spec("wanted").group("b").build());
        }
        add(specs);
        List<Claim> claims = claim(TestClaims.upTo(4).types("wanted"));
        assertThat(TestClaims.jobs(claims)).extracting(Job::type).containsOnly("wanted");
        assertThat(groups(claims)).containsExactlyInAnyOrder("a", "b", "a", "b");
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(20).typesBut("wanted"))))
                .hasSize(5);
    }

    @Test
    default void claims_for_one_type_do_not_move_the_turns_of_another() {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            for (String type : List.of("mail", "report", "thumbnail")) {
                specs.addAll(Collections.nCopies(
                        3,
                        TestJobs.spec(type).queue("types").group("group-" + i).build()));
            }
        }
        add(specs);
        Map<String, List<String>> served = new TreeMap<>();
        for (int round = 0; round < 9; round++) {
            for (String type : List.of("mail", "report", "thumbnail")) {
                served.computeIfAbsent(type, name -> new ArrayList<>())
                        .addAll(groups(claim(TestClaims.upTo(1).from("types").types(type))));
            }
        }
        assertThat(served)
                .allSatisfy(
                        (type, groups) -> assertThat(groups).as(type).hasSize(9).doesNotHaveDuplicates());
    }

    @Test
    default void one_claim_by_type_finds_its_job_among_many_groups_of_other_types() {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            specs.add(TestJobs.spec("other").queue("many").group("group-" + i).build());
        }
        add(specs);
        JobId wanted = add(TestJobs.spec("wanted").queue("many").group("z"));
        assertThat(TestClaims.ids(claim(TestClaims.upTo(1).from("many").types("wanted"))))
                .containsExactly(wanted);
        assertThat(TestClaims.jobs(claim(TestClaims.upTo(2).from("many").typesBut("wanted"))))
                .hasSize(2);
    }

    /** Jobs come and go in all ways; every one is claimed by one worker at a time, and none is forgotten. */
    @Test
    default void no_job_of_a_group_is_claimed_twice_and_none_is_forgotten() {
        List<JobSpec> specs = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            JobSpec.Builder spec = TestJobs.spec("work").priority(i % 7 == 0 ? 3 : 0);
            specs.add(i % 4 == 0 ? spec.build() : spec.group("group-" + i % 31).build());
        }
        add(specs);
        Map<JobId, Settlement> held = new LinkedHashMap<>();
        for (int round = 0; round < 30; round++) {
            for (Claim claim : claim(TestClaims.upTo(50))) {
                for (Job job : claim.jobs()) {
                    Settlement outcome = round < 8 ? outcome(claim, job, round) : TestSettlements.success(claim, job);
                    assertThat(held.put(job.id(), outcome)).as("it is held").isNull();
                }
            }
            List<Settlement> first =
                    held.values().stream().limit((held.size() + 1) * 2L / 3).toList();
            settle(first.toArray(Settlement[]::new));
            first.forEach(settlement -> held.remove(settlement.job()));
            store().giveTurns(Duration.ZERO, 10);
        }
        assertThat(count("default", JobState.SUCCEEDED)).isEqualTo(300);
    }

    private static Settlement outcome(Claim claim, Job job, int round) {
        return switch ((int) (job.id().value() + round) % 5) {
            case 0 -> TestSettlements.putBack(claim, job);
            case 1 -> TestSettlements.retry(claim, job, Duration.ZERO);
            case 2 -> TestSettlements.snooze(claim, job, Duration.ZERO);
            default -> TestSettlements.success(claim, job);
        };
    }

    /** With as many groups as claims between two retries, a careless walk would always pass by the same group. */
    @Test
    default void no_group_starves_beside_retries() {
        for (int i = 0; i < 5; i++) {
            add(jobs("group-" + i, 20));
        }
        Claim some = claimOne(TestClaims.upTo(50));
        some.jobs().forEach(job -> settle(TestSettlements.retry(some, job, Duration.ZERO)));
        awaitNextInstant();
        Map<String, Integer> fresh = new TreeMap<>();
        for (int i = 0; i < 50; i++) {
            for (Job job : TestClaims.jobs(claim(TestClaims.upTo(1).retryShare(0.2)))) {
                if (job.attempts() == 0) {
                    fresh.merge(String.valueOf(job.spec().group()), 1, Integer::sum);
                }
            }
        }
        assertThat(fresh)
                .hasSize(5)
                .allSatisfy((group, starts) -> assertThat(starts).as(group).isBetween(7, 9));
    }
}
