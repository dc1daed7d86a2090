// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.store.StoreException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CommitGroupTest {

    private static final int CALLERS = 32;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Integer> groups = new ArrayList<>();

    @AfterEach
    void stop() {
        threads.shutdownNow();
    }

    private static JobSpec job(int number) {
        return JobSpec.builder("work", Integer.toString(number)).build();
    }

    /** Answers with the number in the payload as id, so that a mixed-up answer is seen. */
    private synchronized List<Enqueued> store(List<JobSpec> jobs) {
        groups.add(jobs.size());
        return jobs.stream()
                .map(job -> new Enqueued(new JobId(Long.parseLong(job.payload())), true, Instant.EPOCH))
                .toList();
    }

    private <T> Future<T> start(Callable<T> call) {
        return threads.submit(call);
    }

    @Test
    void a_lone_caller_goes_at_once() {
        assertThat(new CommitGroup<>(this::store).write(job(7)).id()).isEqualTo(new JobId(7));
        assertThat(groups).containsExactly(1);
    }

    @Test
    void who_comes_while_a_group_is_written_goes_with_the_next() throws Exception {
        CountDownLatch written = new CountDownLatch(1);
        CountDownLatch writing = new CountDownLatch(1);
        AtomicBoolean open = new AtomicBoolean();
        CommitGroup<JobSpec, Enqueued> group = new CommitGroup<>(jobs -> {
            if (!open.get()) {
                writing.countDown();
                await(written);
            }
            return store(jobs);
        });
        List<Future<Enqueued>> calls = new ArrayList<>();
        calls.add(start(() -> group.write(job(1))));
        // One job is being written now: the others can only gather.
        writing.await();
        List<Thread> gathering = new ArrayList<>();
        for (int i = 2; i <= CALLERS; i++) {
            int number = i;
            CountDownLatch known = new CountDownLatch(1);
            calls.add(start(() -> {
                synchronized (gathering) {
                    gathering.add(Thread.currentThread());
                }
                known.countDown();
                return group.write(job(number));
            }));
            known.await();
        }
        for (Thread thread : List.copyOf(gathering)) {
            until(() -> thread.getState() == Thread.State.WAITING);
        }
        open.set(true);
        written.countDown();
        for (int i = 0; i < CALLERS; i++) {
            assertThat(calls.get(i).get().id()).isEqualTo(new JobId(i + 1));
        }
        assertThat(groups).containsExactly(1, CALLERS - 1);
    }

    @Test
    void a_second_writer_does_not_wait_for_the_first() throws Exception {
        CountDownLatch written = new CountDownLatch(1);
        CountDownLatch writing = new CountDownLatch(1);
        CommitGroup<JobSpec, Enqueued> group = new CommitGroup<>(2, jobs -> {
            if (jobs.get(0).payload().equals("1")) {
                writing.countDown();
                await(written);
            }
            return store(jobs);
        });
        Future<Enqueued> first = start(() -> group.write(job(1)));
        writing.await();
        assertThat(group.write(job(2)).id()).isEqualTo(new JobId(2));
        assertThat(first.isDone()).isFalse();
        written.countDown();
        assertThat(first.get().id()).isEqualTo(new JobId(1));
    }

    @Test
    void every_caller_of_two_writers_gets_its_own_answer() throws Exception {
        CommitGroup<JobSpec, Enqueued> group = new CommitGroup<>(2, this::store);
        List<Future<Boolean>> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            int first = i * 1_000;
            callers.add(start(() -> {
                for (int number = first + 1; number < first + 200; number++) {
                    assertThat(group.write(job(number)).id()).isEqualTo(new JobId(number));
                }
                return true;
            }));
        }
        for (Future<Boolean> caller : callers) {
            assertThat(caller.get(5, TimeUnit.MINUTES)).isTrue();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void one_that_is_refused_does_not_harm_the_others() throws Exception {
        CommitGroup<JobSpec, Enqueued> group = new CommitGroup<>(jobs -> {
            if (jobs.stream().anyMatch(job -> job.payload().equals("13"))) {
                throw new IllegalArgumentException("13");
            }
            return store(jobs);
        });
        List<Future<Enqueued>> calls = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            int number = i + 1;
            calls.add(start(() -> group.write(job(number))));
        }
        for (int i = 0; i < CALLERS; i++) {
            if (i == 12) {
                assertThatThrownBy(calls.get(i)::get)
                        .isInstanceOf(ExecutionException.class)
                        .hasRootCauseMessage("13");
            } else {
                assertThat(calls.get(i).get().id()).isEqualTo(new JobId(i + 1));
            }
        }
    }

    @Test
    void a_store_that_answers_only_the_first_gets_the_others_next() throws Exception {
        CountDownLatch all = new CountDownLatch(CALLERS);
        CommitGroup<JobSpec, Enqueued> group = new CommitGroup<>(jobs -> {
            await(all);
            return store(jobs.subList(0, (jobs.size() + 1) / 2));
        });
        List<Future<Enqueued>> calls = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            int number = i + 1;
            calls.add(start(() -> {
                all.countDown();
                return group.write(job(number));
            }));
        }
        for (int i = 0; i < CALLERS; i++) {
            assertThat(calls.get(i).get().id()).isEqualTo(new JobId(i + 1));
        }
        assertThat(groups.stream().mapToInt(Integer::intValue).sum()).isEqualTo(CALLERS);
    }

    @Test
    void an_outage_fails_all_who_wait_for_the_group_and_nobody_after_it() {
        AtomicBoolean down = new AtomicBoolean(true);
        CommitGroup<JobSpec, Enqueued> group = new CommitGroup<>(jobs -> {
            if (down.get()) {
                throw new StoreException("gone", new IllegalStateException(), true);
            }
            return store(jobs);
        });
        assertThatThrownBy(() -> group.write(job(1))).isInstanceOf(StoreException.class);
        down.set(false);
        assertThat(group.write(job(2)).id()).isEqualTo(new JobId(2));
    }

    @Test
    void an_interrupt_waits_for_the_answer() {
        Thread.currentThread().interrupt();
        assertThat(new CommitGroup<>(this::store).write(job(1)).id()).isEqualTo(new JobId(1));
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void an_error_while_a_refused_group_is_written_one_by_one_ends_every_call() throws Exception {
        CountDownLatch written = new CountDownLatch(1);
        CountDownLatch writing = new CountDownLatch(1);
        CommitGroup<JobSpec, Enqueued> group = new CommitGroup<>(jobs -> {
            if (jobs.get(0).payload().equals("1")) {
                writing.countDown();
                await(written);
            } else if (jobs.size() > 1) {
                throw new IllegalArgumentException("refused");
            } else {
                throw new OutOfMemoryError("injected");
            }
            return store(jobs);
        });
        Future<Enqueued> first = start(() -> group.write(job(1)));
        writing.await();
        List<FutureTask<Enqueued>> calls = new ArrayList<>();
        for (int i = 2; i <= 4; i++) {
            int number = i;
            FutureTask<Enqueued> call = new FutureTask<>(() -> group.write(job(number)));
            calls.add(call);
            Thread thread = new Thread(call);
            thread.setDaemon(true);
            thread.start();
            until(() -> thread.getState() == Thread.State.WAITING);
        }
        written.countDown();
        assertThat(first.get().id()).isEqualTo(new JobId(1));
        for (FutureTask<Enqueued> call : calls) {
            assertThatThrownBy(() -> call.get(1, TimeUnit.MINUTES)).isInstanceOf(ExecutionException.class);
        }
    }
}
