// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.control.BreakerPhase;
import io.reprise.failure.Failure;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.remote.RemoteLease;
import io.reprise.remote.StaleLeaseException;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import io.reprise.testing.InMemoryJobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Reports of remote workers that come while the database is slow to take one of them. */
class RemoteOutcomesTest {

    private static final JobType<String> REMOTE = JobType.of("remote", String.class);
    private static final Failure DOWN = Failure.reported("HttpError", null, 503, "down", null);

    private final CountDownLatch locked = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile @Nullable JobId held;

    /** Somebody else holds a lock on one job, so that its outcome is not written before it is released. */
    private JobStore locking(JobStore store) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("settle") && isHeld((List<?>) args[0])) {
                        locked.countDown();
                        released.await();
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private boolean isHeld(List<?> settlements) {
        return settlements.stream().anyMatch(each -> ((Settlement) each).job().equals(held));
    }

    private static FutureTask<Boolean> inBackground(Runnable work) {
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            try {
                work.run();
                return true;
            } catch (StaleLeaseException e) {
                return false;
            }
        });
        Thread thread = new Thread(task, "report");
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    @Test
    void an_outcome_that_waits_for_a_lock_holds_up_no_other() throws Exception {
        try (Reprise reprise = Reprise.builder()
                .store(locking(new InMemoryJobStore()))
                .codec(new TextCodec())
                .remoteWorkers()
                .start()) {
            RemoteWorkers workers = reprise.remoteWorkers();
            JobId slow = reprise.enqueue(REMOTE.job("slow"));
            JobId quick = reprise.enqueue(REMOTE.job("quick"));
            List<RemoteLease> leases = workers.lease(
                    new RemoteLease.LeaseRequest("w", List.of("default"), Set.of(), 2, Duration.ofHours(1)));
            held = slow;
            FutureTask<Boolean> first = inBackground(() -> workers.complete(key(leases, slow), null));
            locked.await();
            FutureTask<Boolean> second = inBackground(() -> workers.complete(key(leases, quick), null));
            assertThat(second.get()).isTrue();
            assertThat(reprise.find(quick).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(first.isDone()).isFalse();
            released.countDown();
            assertThat(first.get()).isTrue();
        }
    }

    private static RemoteLease.Key key(List<RemoteLease> leases, JobId id) {
        return leases.stream()
                .filter(lease -> lease.job().id().equals(id))
                .findFirst()
                .orElseThrow()
                .key();
    }

    @Test
    void one_failure_that_is_told_many_times_at_once_counts_once() throws Exception {
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, RepriseBuilder::remoteWorkers, this::locking)) {
            RemoteWorkers workers = engine.reprise.remoteWorkers();
            JobId id = engine.reprise.enqueue(REMOTE.job("x").resource("api").retry(EngineFixture.EXACT));
            RemoteLease.Key key = workers.lease(
                            new RemoteLease.LeaseRequest("w", List.of("default"), Set.of(), 1, Duration.ofHours(1)))
                    .get(0)
                    .key();
            held = id;
            List<FutureTask<Boolean>> reports = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                reports.add(inBackground(() -> workers.fail(key, DOWN)));
            }
            locked.await();
            awaitWaiting(30);
            released.countDown();
            for (FutureTask<Boolean> report : reports) {
                report.get();
            }
            engine.worker.advance(Duration.ofMillis(500));
            assertThat(engine.job(id).attempts()).isEqualTo(1);
            assertThat(engine.reprise.resources())
                    .extracting(ResourceStatus::phase)
                    .doesNotContain(BreakerPhase.OPEN);
        }
    }

    @Test
    void who_tells_the_same_outcome_twice_at_once_is_told_twice_that_it_counts() throws Exception {
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, RepriseBuilder::remoteWorkers, this::locking)) {
            RemoteWorkers workers = engine.reprise.remoteWorkers();
            JobId id = engine.reprise.enqueue(REMOTE.job("x"));
            RemoteLease.Key key = workers.lease(
                            new RemoteLease.LeaseRequest("w", List.of("default"), Set.of(), 1, Duration.ofHours(1)))
                    .get(0)
                    .key();
            held = id;
            List<FutureTask<Boolean>> same = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                same.add(inBackground(() -> workers.complete(key, null)));
            }
            locked.await();
            awaitWaiting(3);
            FutureTask<Boolean> other = inBackground(() -> workers.fail(key, DOWN));
            awaitWaiting(4);
            released.countDown();
            for (FutureTask<Boolean> report : same) {
                assertThat(report.get()).isTrue();
            }
            assertThat(other.get()).isFalse();
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    private static void awaitWaiting(int threads) {
        for (int looks = 0; looks < 60_000; looks++) {
            long waiting = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("report"))
                    .filter(thread -> thread.getState() == Thread.State.WAITING
                            || thread.getState() == Thread.State.TIMED_WAITING)
                    .count();
            if (waiting == threads) {
                return;
            }
            LockSupport.parkNanos(1_000_000);
        }
        throw new AssertionError("they do not wait");
    }
}
