// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.insight.JobEvent;
import io.reprise.job.AuditNote;
import io.reprise.job.JobCounts;
import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.KeyRule;
import io.reprise.job.RefusedException;
import io.reprise.job.Transaction;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import io.reprise.store.Settled;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Stores, handlers, codecs and listeners at their worst: one bad thing costs itself and nothing else. */
@Timeout(600)
class HostileWorldTest {

    private static final Duration LONG = Duration.ofMinutes(2);

    private final FaultyStore faults = new FaultyStore();
    private final Transaction transaction = new Transaction() {};

    private interface Interceptor {
        Object call(String method, Object[] args, Callable<Object> real) throws Exception;
    }

    private static JobStore intercept(JobStore store, Interceptor interceptor) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(),
                new Class<?>[] {JobStore.class},
                (proxy, method, args) -> interceptor.call(method.getName(), args, () -> {
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw (Exception) e.getCause();
                    }
                }));
    }

    /** A store whose callers' transactions commit at once. */
    private static JobStore joining(JobStore store) {
        return intercept(store, (method, args, real) -> method.equals("within") ? store : real.call());
    }

    @Test
    void a_read_error_while_deciding_loses_no_outcome() {
        JobHandler<String> handler = (payload, job) -> {
            if (payload.equals("tx")) {
                job.complete(transaction);
            }
        };
        try (EngineFixture engine = new EngineFixture(handler, b -> b, store -> faults.wrap(joining(store)))) {
            JobId other = engine.reprise.enqueue(WORK.job("other"));
            JobId completed = engine.reprise.enqueue(WORK.job("tx"));
            faults.failBefore("attempts", 1);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(other).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.job(completed).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.kinds()).doesNotContain(JobEvent.Kind.STALE);
        }
    }

    @Test
    void a_read_that_the_store_refuses_while_deciding_rests_and_holds_up_nobody() {
        AtomicInteger reads = new AtomicInteger();
        AtomicBoolean refusing = new AtomicBoolean(true);
        Interceptor refusal = (method, args, real) -> {
            // Only the committer reads the attempts of job 1.
            if (refusing.get() && method.equals("attempts") && ((JobId) args[0]).value() == 1) {
                if (reads.incrementAndGet() > 100) {
                    refusing.set(false);
                }
                throw new StoreException("refused", new IllegalStateException("damaged"), false);
            }
            return real.call();
        };
        JobHandler<String> handler = (payload, job) -> {
            if (payload.equals("tx")) {
                job.complete(transaction);
            }
        };
        try (EngineFixture engine = new EngineFixture(handler, b -> b, store -> intercept(joining(store), refusal))) {
            JobId completed = engine.reprise.enqueue(WORK.job("tx"));
            JobId other = engine.reprise.enqueue(WORK.job("other"));
            engine.worker.advance(Duration.ofMinutes(2));
            assertThat(engine.job(other).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.kinds()).containsOnlyOnce(JobEvent.Kind.SUCCEEDED);
            assertThat(reads).hasValueBetween(2, 10);
            refusing.set(false);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(completed).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(Collections.frequency(engine.kinds(), JobEvent.Kind.SUCCEEDED))
                    .isEqualTo(2);
        }
    }

    @Test
    void a_stale_failure_counts_for_no_breaker_and_costs_no_budget() {
        AtomicInteger stale = new AtomicInteger();
        ManualClock now = new ManualClock();
        Interceptor taken = (method, args, real) -> {
            if (method.equals("settle") && stale.get() < 200) {
                List<?> settlements = (List<?>) args[0];
                stale.addAndGet(settlements.size());
                return new Settled(
                        now.instant(),
                        settlements.stream().map(s -> ((Settlement) s).job()).collect(Collectors.toSet()),
                        Set.of());
            }
            return real.call();
        };
        JobHandler<String> handler = (payload, job) -> {
            throw new ConnectException("refused");
        };
        try (EngineFixture engine = new EngineFixture(handler, b -> b, store -> intercept(store, taken))) {
            engine.reprise.enqueueAll(
                    Collections.nCopies(200, WORK.job("a").resource("api").retry(EXACT)));
            engine.worker.advance(Duration.ofMillis(500));
            assertThat(stale).hasValue(200);
            assertThat(engine.memory.controls()).isEmpty();
        }
    }

    @Test
    void an_outcome_the_store_refuses_does_not_hold_up_the_others() {
        AtomicBoolean refusing = new AtomicBoolean(true);
        Interceptor refusal = (method, args, real) -> {
            if (refusing.get()
                    && method.equals("settle")
                    && ((List<?>) args[0])
                            .stream().anyMatch(s -> ((Settlement) s).job().value() == 7)) {
                throw new StoreException("refused", new IllegalStateException("constraint"), false);
            }
            return real.call();
        };
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, b -> b, store -> intercept(store, refusal))) {
            engine.reprise.enqueueAll(Collections.nCopies(20, WORK.job("a")));
            engine.worker.advance(Duration.ofMinutes(1));
            JobId later = engine.reprise.enqueue(WORK.job("later"));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(later).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.memory.queues().get(0).count(JobState.SUCCEEDED)).isEqualTo(20);
            refusing.set(false);
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.memory.queues().get(0).count(JobState.SUCCEEDED)).isEqualTo(21);
            assertThat(Collections.frequency(engine.ran, "a")).isEqualTo(20);
        }
    }

    @Test
    void an_answer_that_was_lost_for_a_batch_is_told_as_accepted_for_each() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, b -> b, faults::wrap)) {
            faults.failAfter("settle", 3);
            engine.reprise.enqueueAll(Collections.nCopies(5, WORK.job("a")));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.kinds()).doesNotContain(JobEvent.Kind.STALE);
            assertThat(Collections.frequency(engine.kinds(), JobEvent.Kind.SUCCEEDED))
                    .isEqualTo(5);
        }
    }

    private static final class Broken extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public synchronized Throwable getCause() {
            throw new IllegalStateException("lazy cause");
        }
    }

    @Test
    void an_exception_that_is_itself_broken_is_a_failure_like_any_other() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw new Broken();
        })) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(RetryPolicy.none()));
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.EXHAUSTED);
        }
    }

    @Test
    void a_codec_that_throws_what_it_should_not_makes_the_job_unreadable() {
        PayloadCodec codec = new PayloadCodec() {
            @Override
            public String encode(Object value) {
                return value.toString();
            }

            @Override
            public <T> T decode(String json, Class<T> type) {
                throw new NoClassDefFoundError("payload/Class");
            }
        };
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.codec(codec))) {
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.runDue();
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.UNREADABLE);
        }
    }

    @Test
    void a_listener_that_throws_an_error_kills_no_role() {
        try (Reprise reprise = Reprise.builder()
                .store(new InMemoryJobStore())
                .codec(new TextCodec())
                .listener(event -> {
                    throw new StackOverflowError("listener");
                })
                .handle(WORK, (payload, job) -> {})
                .start()) {
            for (int i = 0; i < 3; i++) {
                assertThat(reprise.await(reprise.enqueue(WORK.job("a")), LONG).succeeded())
                        .isTrue();
            }
        }
    }

    @Test
    void nothing_is_claimed_for_a_thread_that_a_deaf_handler_keeps() {
        InMemoryJobStore store = new InMemoryJobStore();
        AtomicBoolean done = new AtomicBoolean();
        JobHandler<String> handler = (payload, job) -> {
            while (payload.equals("deaf") && !done.get()) {
                Thread.onSpinWait();
            }
        };
        UnaryOperator<RepriseBuilder> settings = builder -> builder.store(store)
                .codec(new TextCodec())
                .handle(WORK, handler)
                .concurrency(1)
                .stopGrace(Duration.ZERO)
                .cancelGrace(Duration.ofMillis(20));
        try (Reprise stuck = settings.apply(Reprise.builder()).name("stuck").start()) {
            JobId deaf = stuck.enqueue(
                    WORK.job("deaf").timeout(Duration.ofMillis(20)).retry(RetryPolicy.none()));
            stuck.await(deaf, LONG);
            JobId next = stuck.enqueue(WORK.job("next"));
            try (Reprise healthy =
                    settings.apply(Reprise.builder()).name("healthy").start()) {
                assertThat(healthy.await(next, LONG).succeeded()).isTrue();
                assertThat(healthy.attempts(next).get(0).worker()).isEqualTo("healthy");
            } finally {
                done.set(true);
            }
        }
    }

    @Test
    void jobs_fetched_ahead_are_given_back_when_those_before_them_take_long() throws Exception {
        InMemoryJobStore store = new InMemoryJobStore();
        CountDownLatch finish = new CountDownLatch(1);
        CountDownLatch others = new CountDownLatch(20);
        JobHandler<String> blocking = (payload, job) -> {
            if (payload.equals("long")) {
                finish.await();
            }
        };
        RepriseBuilder builder = Reprise.builder()
                .store(store)
                .codec(new TextCodec())
                .stopGrace(Duration.ZERO)
                .handle(WORK, blocking)
                .concurrency(2);
        try (Reprise hoarder = builder.name("hoarder").start()) {
            List<JobId> instant = hoarder.enqueueAll(Collections.nCopies(500, WORK.job("instant")));
            for (JobId id : instant) {
                hoarder.await(id, LONG);
            }
            hoarder.enqueueAll(Collections.nCopies(100, WORK.job("long")));
            try (Reprise helper = Reprise.builder()
                    .store(store)
                    .codec(new TextCodec())
                    .name("helper")
                    .handle(WORK, (payload, job) -> others.countDown())
                    .start()) {
                others.await();
                assertThat(helper.queues()).isNotEmpty();
            } finally {
                finish.countDown();
            }
        }
    }

    @Test
    void a_schedule_whose_job_is_refused_moves_on_and_leaves_the_others_alone() {
        JobHandler<String> handler = (payload, job) -> {
            if (payload.equals("a")) {
                throw JobSignal.snooze(Duration.ofHours(1));
            }
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            engine.reprise.schedule(
                    Schedule.every("a", Duration.ofMinutes(1), WORK.job("a").key("k", KeyRule.REJECT))
                            .allowOverlap());
            engine.reprise.schedule(Schedule.every("b", Duration.ofMinutes(1), WORK.job("b")));
            engine.worker.advance(Duration.ofMinutes(10));
            assertThat(Collections.frequency(engine.ran, "b")).isGreaterThan(8);
        }
    }

    @Test
    void a_sweep_that_fails_in_an_unforeseen_way_does_not_keep_the_others_from_their_work() {
        Interceptor broken = (method, args, real) -> {
            if (method.equals("takeOver")
                    || (method.equals("fireAll") && args[0].toString().contains("broken"))) {
                throw new IllegalStateException("a bug in the store");
            }
            return real.call();
        };
        try (EngineFixture engine =
                new EngineFixture((payload, job) -> {}, b -> b, store -> intercept(store, broken))) {
            engine.reprise.schedule(Schedule.every("broken", Duration.ofMinutes(1), WORK.job("broken")));
            engine.reprise.schedule(Schedule.every("sound", Duration.ofMinutes(1), WORK.job("sound")));
            engine.worker.advance(Duration.ofMinutes(5).plusSeconds(1));
            assertThat(engine.ran).containsOnly("sound").hasSize(5);
        }
    }

    @Test
    void a_schedule_with_an_idempotency_key_is_refused() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            Schedule schedule =
                    Schedule.every("a", Duration.ofMinutes(1), WORK.job("a").idempotencyKey("k"));
            assertThatThrownBy(() -> engine.reprise.schedule(schedule)).hasMessageContaining("idempotency key");
        }
    }

    @Test
    void a_queue_that_appears_beside_a_backlog_is_found() {
        AtomicReference<EngineFixture> self = new AtomicReference<>();
        AtomicInteger runs = new AtomicInteger();
        JobHandler<String> handler = (payload, job) -> {
            if (runs.incrementAndGet() == 1) {
                self.get().reprise.enqueue(WORK.job("new").queue("new"));
            }
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            self.set(engine);
            engine.reprise.enqueueAll(
                    Collections.nCopies(30_000, WORK.job("old").queue("old")));
            engine.worker.runDue();
            assertThat(engine.ran.indexOf("new")).isBetween(1, 20_000);
        }
    }

    @Test
    void a_due_time_in_the_far_future_is_stored_like_any_other() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {})) {
            Instant far = JobSpec.MAX_DUE;
            JobId id = engine.reprise.enqueue(WORK.job("a").at(far));
            assertThat(engine.job(id).times().dueAt()).isEqualTo(far);
        }
    }

    @Test
    void a_failure_after_a_committed_completion_changes_nothing() {
        JobHandler<String> handler = (payload, job) -> {
            job.complete(transaction);
            throw new IOException("closing failed");
        };
        try (EngineFixture engine = new EngineFixture(handler, b -> b, HostileWorldTest::joining)) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(id).state()).isEqualTo(JobState.SUCCEEDED);
            assertThat(engine.kinds()).contains(JobEvent.Kind.SUCCEEDED).doesNotContain(JobEvent.Kind.RETRY_SCHEDULED);
        }
    }

    @Test
    void a_failure_of_a_job_that_was_cancelled_meanwhile_is_told_as_the_cancellation_it_became() {
        AtomicReference<EngineFixture> self = new AtomicReference<>();
        JobHandler<String> handler = (payload, job) -> {
            self.get().memory.cancel(job.id(), new AuditNote("another process", null));
            throw new IOException("down");
        };
        try (EngineFixture engine = new EngineFixture(handler)) {
            self.set(engine);
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(EXACT));
            engine.worker.advance(Duration.ofMinutes(1));
            assertThat(engine.job(id).state()).isEqualTo(JobState.CANCELLED);
            assertThat(engine.kinds()).contains(JobEvent.Kind.CANCELLED).doesNotContain(JobEvent.Kind.RETRY_SCHEDULED);
        }
    }

    @Test
    void a_deadline_from_a_live_policy_is_kept_by_the_store() {
        RetryPolicy hour = RetryPolicy.unset().deadline(Duration.ofHours(1));
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {}, builder -> builder.livePolicies().retry(hour))) {
            engine.reprise.as("ada", null).pause("default");
            JobId id = engine.reprise.enqueue(WORK.job("a"));
            engine.worker.advance(Duration.ofHours(5));
            assertThat(engine.job(id).failReason()).isEqualTo(FailReason.DEADLINE);
        }
    }

    @Test
    void an_outage_longer_than_the_lease_spends_no_attempt() throws Exception {
        InMemoryJobStore store = new InMemoryJobStore();
        AtomicBoolean down = new AtomicBoolean();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        // Take-overs stay away, so that the interrupted run is the one that reports first.
        JobStore shaky = intercept(store, (method, args, real) -> {
            if (down.get() || method.equals("takeOver")) {
                throw new StoreException("away", new IOException());
            }
            return real.call();
        });
        try (Reprise reprise = Reprise.builder()
                .store(shaky)
                .codec(new TextCodec())
                .lease(Duration.ofMillis(500))
                .stopGrace(Duration.ZERO)
                .handle(WORK, (payload, job) -> {
                    if (started.getCount() == 0) {
                        return;
                    }
                    started.countDown();
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        interrupted.countDown();
                        throw e;
                    }
                })
                .start()) {
            JobId id = reprise.enqueue(WORK.job("a").retry(RetryPolicy.none()));
            started.await();
            down.set(true);
            interrupted.await();
            down.set(false);
            Outcome outcome = reprise.await(id, LONG);
            assertThat(outcome.succeeded()).isTrue();
            assertThat(outcome.job().counts()).isEqualTo(new JobCounts(1, 0, 1, 0, 0));
        }
    }

    @Test
    void a_permanent_failure_stays_barred_even_if_attempts_are_granted() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {
            throw JobSignal.fail("never");
        })) {
            JobId id = engine.reprise.enqueue(WORK.job("a").retry(RetryPolicy.none()));
            engine.worker.runDue();
            Operations operations = engine.reprise.as("ada", null);
            assertThatThrownBy(() -> operations.retry(id, ManualRetry.NOW.granting(1)))
                    .isInstanceOfSatisfying(
                            RefusedException.class,
                            refusal -> assertThat(refusal.code()).isEqualTo(RefusedException.Code.NOT_RETRYABLE));
        }
    }

    @Test
    void a_job_that_snoozes_for_no_time_at_all_is_found_out_in_virtual_time() {
        EngineFixture engine = new EngineFixture((payload, job) -> {
            throw JobSignal.snooze(Duration.ZERO);
        });
        engine.reprise.enqueue(WORK.job("a"));
        assertThatThrownBy(() -> engine.worker.advance(Duration.ofMinutes(1))).hasMessageContaining("never rests");
    }
}
