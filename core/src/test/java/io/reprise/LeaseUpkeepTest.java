// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.RemoteLease.LeaseRequest;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.CountedAs;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import io.reprise.testing.InlineWorker;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Lease rows go with their jobs, and lost leases wait for nothing. */
class LeaseUpkeepTest {

    private static final JobType<String> REMOTE = JobType.of("remote", String.class);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final ClaimRequest ONE =
            new ClaimRequest("dead", LEASE, 1, List.of(new ClaimRequest.Demand("default", 1)), 0.2, true);

    private static EngineFixture elsewhere() {
        return new EngineFixture((payload, job) -> {}, builder -> builder.queues(Queue.of("elsewhere")));
    }

    @Test
    void a_report_that_reaches_another_server_leaves_no_lease_behind() {
        try (EngineFixture here = new EngineFixture((payload, job) -> {}, RepriseBuilder::remoteWorkers);
                InlineWorker there = InlineWorker.start(
                        Reprise.builder()
                                .store(here.memory)
                                .codec(new TextCodec())
                                .remoteWorkers(),
                        here.clock)) {
            here.reprise.enqueueAll(Collections.nCopies(200, REMOTE.job("x").retry(EXACT)));
            List<RemoteLease> leased = here.reprise
                    .remoteWorkers()
                    .lease(new LeaseRequest("py-1", List.of(), Set.of("remote"), 200, LEASE));
            assertThat(leased).hasSize(200);
            leased.forEach(lease -> there.reprise().remoteWorkers().complete(lease.key(), null));
            List<Long> tokens =
                    leased.stream().map(lease -> lease.key().token()).distinct().toList();
            assertThat(here.memory.renew("py-1", tokens, LEASE).lost()).containsExactlyInAnyOrderElementsOf(tokens);
        }
    }

    @Test
    void a_dead_worker_behind_10_000_empty_leases_is_recovered_within_its_lease_and_a_round() {
        try (EngineFixture engine = elsewhere()) {
            engine.reprise.enqueueAll(Collections.nCopies(10_000, WORK.job("done")));
            for (int i = 0; i < 10_000; i++) {
                Claim claim = engine.memory.claim(ONE).get(0);
                engine.memory.settle(
                        List.of(new Settlement(
                                claim.jobs().get(0).id(),
                                claim.token(),
                                CountedAs.ATTEMPT,
                                Duration.ZERO,
                                new Settlement.Succeed(null),
                                null,
                                null)),
                        List.of());
            }
            JobId lost = engine.reprise.enqueue(WORK.job("lost").retry(EXACT));
            engine.memory.claim(ONE);
            engine.worker.advance(LEASE.plusSeconds(1));
            assertThat(engine.job(lost).counts().losses()).isEqualTo(1);
            assertThat(engine.memory.dropEmptyLeases(1)).isZero();
        }
    }

    /** Each other piece of upkeep fails; the take-over does not notice. */
    @Test
    void lost_leases_do_not_wait_for_schedules_deadlines_or_retention() {
        AtomicInteger slow = new AtomicInteger();
        EngineFixture engine = new EngineFixture(
                (payload, job) -> {},
                builder -> builder.queues(Queue.of("elsewhere")),
                store -> failing(store, Set.of("schedules", "dueSchedules", "expire", "prune", "maintain"), slow));
        try (engine) {
            JobId lost = engine.reprise.enqueue(WORK.job("lost").retry(EXACT));
            engine.memory.claim(ONE);
            engine.worker.advance(LEASE.plusSeconds(1));
            assertThat(slow.get()).isPositive();
            assertThat(engine.job(lost).counts().losses()).isEqualTo(1);
        }
    }

    private static JobStore failing(JobStore store, Set<String> methods, AtomicInteger calls) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, arguments) -> {
                    if (methods.contains(method.getName())) {
                        calls.incrementAndGet();
                        throw new IllegalStateException("a piece of upkeep that never gets anywhere");
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
