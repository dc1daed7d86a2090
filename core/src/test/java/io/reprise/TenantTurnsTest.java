// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.Job;
import io.reprise.remote.RemoteLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Tenants take turns across all their queues, whichever worker serves them. */
class TenantTurnsTest {

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
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {}, builder -> builder.queues(Queue.of("own")).remoteWorkers())) {
            engine.worker.advance(Duration.ofSeconds(5));
            JobType<String> far = JobType.of("far", String.class);
            for (int i = 0; i < 300; i++) {
                engine.reprise.enqueue(far.job("x").queue("acme/queue-" + i % 100));
                engine.reprise.enqueue(far.job("x").queue("small/mail"));
            }
            Map<String, Integer> leased = new TreeMap<>();
            for (int i = 0; i < 10; i++) {
                List<RemoteLease> leases = new ArrayList<>(engine.reprise
                        .remoteWorkers()
                        .lease(new RemoteLease.LeaseRequest(
                                "remote", List.of(), Set.of("far"), 10, Duration.ofMinutes(1))));
                leases.stream()
                        .map(RemoteLease::job)
                        .map(Job::queue)
                        .forEach(queue -> leased.merge(queue.substring(0, queue.indexOf('/')), 1, Integer::sum));
            }
            assertThat(leased).containsOnlyKeys("acme", "small");
            assertThat(leased.get("small")).isBetween(40, 60);
        }
    }
}
