// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.remote.RemoteLease;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Tenants take turns across all their queues, whichever worker serves them. */
class TenantTurnsTest {

    private static final JobType<String> FAR = JobType.of("far", String.class);

    private static void fill(EngineFixture engine, String tenant, int queues, int jobs) {
        for (int i = 0; i < queues * jobs; i++) {
            engine.reprise.enqueue(WORK.job(tenant).queue(tenant + "/queue-" + i % queues));
        }
    }

    private static long count(List<String> ran, String tenant) {
        return ran.stream().filter(tenant::equals).count();
    }

    @Test
    void a_tenant_with_many_queues_gets_no_more_than_one_with_a_single_queue() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.concurrency(4))) {
            fill(engine, "acme", 200, 5);
            fill(engine, "small", 1, 60);
            fill(engine, "tiny", 1, 60);
            engine.worker.runDue();
            int last = Math.max(engine.ran.lastIndexOf("small"), engine.ran.lastIndexOf("tiny"));
            List<String> contended = engine.ran.subList(0, last + 1);
            assertThat(count(contended, "acme")).isLessThan(120);
            assertThat(engine.ran).hasSize(1_120);
        }
    }

    @Test
    void remote_workers_of_all_tenants_serve_them_in_turns() {
        try (EngineFixture engine = remote()) {
            enqueue(engine, "acme/queue-", 100, 300);
            enqueue(engine, "small/mail-", 1, 300);
            Map<String, Integer> leased = lease(engine, 100, 10);
            assertThat(leased).containsOnlyKeys("acme", "small");
            assertThat(leased.get("small")).isBetween(40, 60);
        }
    }

    @Test
    void queues_that_have_run_empty_take_no_turns_of_their_tenant() {
        try (EngineFixture engine = remote()) {
            enqueue(engine, "small/drained-", 15, 15);
            assertThat(lease(engine, 15, 1)).containsExactly(Map.entry("small", 15));
            enqueue(engine, "acme/queue-", 8, 400);
            enqueue(engine, "small/mail-", 1, 400);
            assertThat(lease(engine, 200, 1).get("small")).isBetween(90, 110);
        }
    }

    @Test
    void turns_are_even_for_claims_of_any_size() {
        for (int max : new int[] {1, 2, 4, 5}) {
            try (EngineFixture engine = remote()) {
                enqueue(engine, "acme/queue-", 15, 600);
                enqueue(engine, "large/queue-", 8, 600);
                enqueue(engine, "small/mail-", 1, 600);
                lease(engine, 300, max)
                        .values()
                        .forEach(jobs -> assertThat(jobs)
                                .describedAs("claims of %s", max)
                                .isBetween(90, 110));
            }
        }
    }

    @Test
    void a_tenant_that_comes_back_has_saved_no_turns() {
        try (EngineFixture engine = remote()) {
            enqueue(engine, "small/mail-", 1, 1);
            enqueue(engine, "acme/queue-", 3, 600);
            lease(engine, 300, 1);
            enqueue(engine, "small/mail-", 1, 200);
            assertThat(lease(engine, 100, 1).get("small")).isBetween(45, 55);
        }
    }

    @Test
    void a_new_queue_starts_within_seconds_beside_a_tenant_with_a_thousand_full_queues() {
        try (EngineFixture engine = remote()) {
            enqueue(engine, "small/mail-", 1, 500);
            enqueue(engine, "acme/queue-", 1_000, 3_000);
            lease(engine, 50, 1);
            engine.reprise.enqueue(FAR.job("x").queue("quiet/mail"));
            engine.reprise.enqueue(FAR.job("x").queue("small/other"));
            Set<String> queues = new TreeSet<>();
            for (int i = 0; i < 40; i++) {
                engine.worker.advance(Duration.ofMillis(50));
                leases(engine, 1).forEach(lease -> queues.add(lease.job().queue()));
            }
            assertThat(queues).contains("quiet/mail", "small/other");
        }
    }

    private static EngineFixture remote() {
        EngineFixture engine = new EngineFixture(
                (payload, job) -> {}, builder -> builder.queues(Queue.of("own")).remoteWorkers());
        engine.worker.advance(Duration.ofSeconds(5));
        return engine;
    }

    private static void enqueue(EngineFixture engine, String beginning, int queues, int jobs) {
        for (int i = 0; i < jobs; i++) {
            engine.reprise.enqueue(FAR.job("x").queue(beginning + i % queues));
        }
    }

    /** Returns how many jobs of each tenant were leased. */
    private static Map<String, Integer> lease(EngineFixture engine, int jobs, int max) {
        Map<String, Integer> leased = new TreeMap<>();
        for (int asked = 0; asked < jobs; asked += max) {
            leases(engine, max).stream()
                    .map(lease -> lease.job().queue())
                    .forEach(queue -> leased.merge(queue.substring(0, queue.indexOf('/')), 1, Integer::sum));
        }
        return leased;
    }

    private static List<RemoteLease> leases(EngineFixture engine, int max) {
        return engine.reprise
                .remoteWorkers()
                .lease(new RemoteLease.LeaseRequest("remote", List.of(), Set.of("far"), max, Duration.ofMinutes(1)));
    }
}
