// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.FailureClass;
import io.reprise.job.Attempt;
import io.reprise.job.Cancellation;
import io.reprise.job.Job;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.Progress;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

/** What needs real threads: interrupting handlers. Nothing here waits but for a condition. */
@Timeout(600)
class ThreadedWorkerTest {

    private static final Duration LONG = Duration.ofMinutes(2);

    private final InMemoryJobStore store = new InMemoryJobStore();
    private final CountDownLatch started = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);

    private RepriseBuilder worker(JobHandler<String> handler) {
        return Reprise.builder()
                .store(store)
                .codec(new TextCodec())
                .handle(WORK, handler)
                .stopGrace(Duration.ZERO);
    }

    private void hang(String payload, JobContext job) throws InterruptedException {
        started.countDown();
        never.await();
    }

    @Test
    void a_run_beyond_its_timeout_is_interrupted_and_counts_as_a_timeout() {
        try (Reprise reprise = worker(this::hang).start()) {
            JobId id =
                    reprise.enqueue(WORK.job("a").timeout(Duration.ofMillis(20)).retry(RetryPolicy.none()));
            Outcome outcome = reprise.await(id, LONG);
            assertThat(outcome.failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(reprise.attempts(id).get(0).decision().failureClass()).isEqualTo(FailureClass.TIMEOUT);
        }
    }

    @Test
    void an_advisor_that_never_answers_holds_up_no_job_and_the_decision_of_the_policy_stands() {
        CountDownLatch asked = new CountDownLatch(1);
        RetryAdvisor deaf = situation -> {
            asked.countDown();
            while (true) {
                LockSupport.park();
            }
        };
        try (Reprise reprise = worker((payload, job) -> {
                    throw new IllegalStateException("down");
                })
                .retryAdvisor(deaf)
                .start()) {
            JobId id = reprise.enqueue(WORK.job("a").retry(RetryPolicy.none()));
            assertThat(reprise.await(id, LONG).failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(asked.getCount()).isZero();
        }
    }

    @Test
    void a_timeout_is_final_if_the_policy_says_so() {
        try (Reprise reprise = worker(this::hang).start()) {
            JobId id =
                    reprise.enqueue(WORK.job("a").timeout(Duration.ofMillis(20)).retry(EXACT.retryTimeouts(false)));
            assertThat(reprise.await(id, LONG).failReason()).isEqualTo(FailReason.PERMANENT);
        }
    }

    @Test
    void a_run_beyond_the_jobs_deadline_is_interrupted_and_fails_by_deadline() {
        try (Reprise reprise = worker(this::hang).start()) {
            JobId id = reprise.enqueue(WORK.job("a").retry(EXACT.deadline(Duration.ofMillis(200))));
            assertThat(reprise.await(id, LONG).failReason()).isEqualTo(FailReason.DEADLINE);
        }
    }

    @Test
    void a_handler_that_ignores_the_interrupt_is_given_up_after_a_grace() {
        CountDownLatch release = new CountDownLatch(1);
        JobHandler<String> deaf = (payload, job) -> {
            boolean done = false;
            while (!done) {
                try {
                    done = release.await(1, TimeUnit.MINUTES);
                } catch (InterruptedException e) {
                    assertThat(job.isCancelled()).isTrue();
                }
            }
        };
        try (Reprise reprise = worker(deaf).cancelGrace(Duration.ofMillis(20)).start()) {
            JobId id =
                    reprise.enqueue(WORK.job("a").timeout(Duration.ofMillis(20)).retry(RetryPolicy.none()));
            assertThat(reprise.await(id, LONG).failReason()).isEqualTo(FailReason.EXHAUSTED);
            assertThat(reprise.attempts(id).get(0).failure().message()).contains("did not end within");
            release.countDown();
        }
    }

    @Test
    void a_running_job_is_cancelled_at_once_in_its_own_process() throws Exception {
        try (Reprise reprise = worker(this::hang).start()) {
            JobId id = reprise.enqueue(WORK.job("a"));
            started.await();
            assertThat(reprise.as("ada", "wrong file").cancel(id)).isEqualTo(Cancellation.REQUESTED);
            assertThat(reprise.await(id, LONG).state()).isEqualTo(JobState.CANCELLED);
            assertThat(reprise.audit(id)).hasSize(1);
        }
    }

    @Test
    void a_running_job_hears_of_its_cancellation_from_another_process() throws Exception {
        try (Reprise reprise = worker(this::hang).start()) {
            JobId id = reprise.enqueue(WORK.job("a"));
            started.await();
            store.cancel(id, new io.reprise.job.AuditNote("bob", "from elsewhere"));
            assertThat(reprise.await(id, LONG).state()).isEqualTo(JobState.CANCELLED);
        }
    }

    @Test
    void a_shutdown_interrupts_what_does_not_finish_and_spends_no_attempt() throws Exception {
        JobId id;
        try (Reprise reprise = worker(this::hang).start()) {
            id = reprise.enqueue(WORK.job("a").retry(RetryPolicy.none()));
            started.await();
        }
        Job job = store.find(id).orElseThrow();
        assertThat(job.state()).isEqualTo(JobState.PENDING);
        assertThat(job.counts()).isEqualTo(new JobCounts(0, 0, 1, 0, 0));
        assertThat(store.attempts(id)).extracting(Attempt::ending).containsExactly(Attempt.Ending.INTERRUPTED);
        assertThat(job.times().dueAt()).isBeforeOrEqualTo(store.now());
    }

    @Test
    void a_shutdown_gives_back_what_has_not_started_without_a_trace() throws Exception {
        try (Reprise reprise = worker(this::hang).concurrency(1).start()) {
            reprise.enqueueAll(java.util.Collections.nCopies(50, WORK.job("a")));
            started.await();
        }
        assertThat(store.queues().get(0).count(JobState.PENDING)).isEqualTo(50);
        long interruptions = store.find(io.reprise.job.JobQuery.all()).items().stream()
                .mapToInt(job -> job.counts().interruptions() + job.counts().losses())
                .sum();
        assertThat(interruptions).isEqualTo(1);
    }

    @Test
    void a_shutdown_lets_handlers_finish_within_the_grace() throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        Reprise reprise = worker((payload, job) -> {
                    started.countDown();
                    finish.await();
                })
                .stopGrace(LONG)
                .start();
        JobId id = reprise.enqueue(WORK.job("a"));
        started.await();
        Thread closing = new Thread(reprise::close);
        closing.start();
        finish.countDown();
        closing.join();
        assertThat(store.find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
    }

    @Test
    void concurrency_is_kept_per_worker_and_per_queue() throws Exception {
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger mostMail = new AtomicInteger();
        AtomicInteger mail = new AtomicInteger();
        JobHandler<String> handler = (payload, job) -> {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            if (job.job().queue().equals("mail")) {
                mostMail.accumulateAndGet(mail.incrementAndGet(), Math::max);
                mail.decrementAndGet();
            }
            now.decrementAndGet();
        };
        try (Reprise reprise = worker(handler)
                .concurrency(4)
                .queues(Queue.of("mail").concurrency(1), Queue.of("default"))
                .start()) {
            List<JobId> ids = reprise.enqueueAll(java.util.stream.IntStream.range(0, 400)
                    .mapToObj(i -> WORK.job("a").queue(i % 2 == 0 ? "mail" : "default"))
                    .toList());
            for (JobId id : ids) {
                assertThat(reprise.await(id, LONG).succeeded()).isTrue();
            }
        }
        assertThat(most.get()).isBetween(1, 4);
        assertThat(mostMail.get()).isEqualTo(1);
    }

    @Test
    void trap_lease_renewal_is_not_starved_by_busy_handlers() {
        AtomicInteger renewals = new AtomicInteger();
        // On a clock that stands still no lease ends, whatever the machine does: all that counts is that they are
        // renewed.
        InMemoryJobStore timeless = new InMemoryJobStore(new ManualClock());
        JobStore counting = (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("renew")) {
                        renewals.incrementAndGet();
                    }
                    return method.invoke(timeless, args);
                });
        int busy = Runtime.getRuntime().availableProcessors() * 2;
        try (Reprise reprise = Reprise.builder()
                .store(counting)
                .codec(new TextCodec())
                .concurrency(busy)
                .lease(Duration.ofMillis(500))
                .handle(WORK, (payload, job) -> {
                    while (renewals.get() < 10 && !job.isCancelled()) {
                        Thread.onSpinWait();
                    }
                    job.checkpoint();
                })
                .start()) {
            for (JobId id : reprise.enqueueAll(java.util.Collections.nCopies(busy, WORK.job("a")))) {
                assertThat(reprise.await(id, LONG).job().counts()).isEqualTo(new JobCounts(1, 0, 0, 0, 0));
            }
        }
    }

    @Test
    void handlers_run_on_virtual_threads_where_there_are_any() {
        LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
        try (Reprise reprise = worker((payload, job) ->
                        seen.add(Thread.currentThread().getClass().getSimpleName()))
                .start()) {
            reprise.await(reprise.enqueue(WORK.job("a")), LONG);
            boolean virtual = Runtime.version().feature() >= 21;
            assertThat(seen).containsExactly(virtual ? "VirtualThread" : "Thread");
        }
    }

    @Test
    void handlers_log_with_job_attempt_and_queue() {
        LinkedBlockingQueue<String> seen = new LinkedBlockingQueue<>();
        try (Reprise reprise = worker(
                        (payload, job) -> seen.add(MDC.get("job") + " " + MDC.get("attempt") + " " + MDC.get("queue")))
                .start()) {
            JobId id = reprise.enqueue(WORK.job("a").queue("mail"));
            reprise.await(id, LONG);
            assertThat(seen).containsExactly(id + " 1 mail");
        }
    }

    @Test
    void progress_is_seen_while_the_job_runs() throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        try (Reprise reprise = worker((payload, job) -> {
                    job.progress(40, "resizing");
                    started.countDown();
                    finish.await();
                })
                .start()) {
            JobId id = reprise.enqueue(WORK.job("a"));
            started.await();
            assertThat(reprise.find(id).orElseThrow().status().progress()).isEqualTo(new Progress(40, "resizing"));
            finish.countDown();
            assertThat(reprise.await(id, LONG).succeeded()).isTrue();
        }
    }
}
