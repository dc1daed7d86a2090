// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.store.StoreException;
import io.reprise.testing.InMemoryJobStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Jobs that several threads look for at once. */
class FindGroupTest {

    private static final int OTHERS = 20;

    private final InMemoryJobStore store = new InMemoryJobStore();
    private final List<Integer> reads = new ArrayList<>();
    private final CountDownLatch reading = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    private JobId add() {
        List<Enqueued> inserted =
                store.insert(List.of(JobSpec.builder("work", "1").build()));
        return inserted.get(0).id();
    }

    private List<Job> slow(Collection<JobId> ids) {
        synchronized (reads) {
            reads.add(ids.size());
        }
        reading.countDown();
        try {
            released.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return store.findAll(ids);
    }

    private static <T> FutureTask<T> start(java.util.concurrent.Callable<T> work, List<Thread> threads) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task, "finder");
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
        return task;
    }

    private static void awaitWaiting(List<Thread> threads) {
        while (threads.stream().anyMatch(thread -> thread.getState() != Thread.State.WAITING)) {
            LockSupport.parkNanos(100_000);
        }
    }

    @Test
    void those_that_come_while_one_reads_are_read_together() throws Exception {
        FindGroup group = new FindGroup(this::slow);
        List<Thread> threads = new ArrayList<>();
        JobId first = add();
        FutureTask<Optional<Job>> one = start(() -> group.find(first), threads);
        reading.await();
        List<JobId> ids = new ArrayList<>();
        List<FutureTask<Optional<Job>>> others = new ArrayList<>();
        for (int i = 0; i < OTHERS; i++) {
            JobId id = add();
            ids.add(id);
            others.add(start(() -> group.find(id), threads));
        }
        FutureTask<Optional<Job>> none = start(() -> group.find(new JobId(999_999)), threads);
        awaitWaiting(threads);
        released.countDown();
        assertThat(one.get().orElseThrow().id()).isEqualTo(first);
        for (int i = 0; i < OTHERS; i++) {
            assertThat(others.get(i).get().orElseThrow().id()).isEqualTo(ids.get(i));
        }
        assertThat(none.get()).isEmpty();
        assertThat(reads).containsExactly(1, OTHERS + 1);
    }

    @Test
    void a_read_that_fails_fails_for_all_of_its_group_and_for_no_other() {
        FindGroup group = new FindGroup(ids -> {
            throw new StoreException("down", new IllegalStateException());
        });
        assertThatThrownBy(() -> group.find(new JobId(1))).isInstanceOf(StoreException.class);
        assertThatThrownBy(() -> group.find(new JobId(2))).isInstanceOf(StoreException.class);
    }

    @Test
    void an_error_in_one_read_leaves_nobody_waiting() throws Exception {
        List<Thread> threads = new ArrayList<>();
        FindGroup group = new FindGroup(ids -> {
            reading.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            throw new AssertionError("bug");
        });
        FutureTask<Optional<Job>> one = start(() -> group.find(new JobId(1)), threads);
        reading.await();
        FutureTask<Optional<Job>> two = start(() -> group.find(new JobId(2)), threads);
        awaitWaiting(threads);
        released.countDown();
        assertThatThrownBy(one::get).isInstanceOf(ExecutionException.class);
        assertThatThrownBy(two::get).isInstanceOf(ExecutionException.class);
    }
}
