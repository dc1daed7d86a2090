// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.reprise.insight.JobEvent;
import io.reprise.job.Enqueued;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.job.Transaction;
import io.reprise.store.JobStore;
import io.reprise.store.JobWriter;
import io.reprise.testing.InMemoryJobStore;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A Reprise whose worker starts later, stops earlier, and has code around it. */
class OpenedRepriseTest {

    private static final Duration LONG = Duration.ofMinutes(1);
    private static final JobType<String> WORK = JobType.of("work", String.class);

    private final List<String> seen = new CopyOnWriteArrayList<>();

    private static RepriseBuilder builder() {
        return Reprise.builder().store(new InMemoryJobStore()).codec(new TextCodec());
    }

    @Test
    void a_handler_may_use_the_reprise_that_it_is_registered_with() {
        RepriseBuilder builder = builder();
        try (Reprise reprise = builder.open()) {
            AtomicReference<JobId> next = new AtomicReference<>();
            builder.handle(WORK, (text, job) -> {
                if (text.equals("first")) {
                    next.set(reprise.enqueue(WORK.job("second")));
                }
            });
            JobId first = reprise.enqueue(WORK.job("first"));
            assertThat(reprise.isWorking()).isFalse();
            reprise.startWorker();
            assertThat(reprise.await(first, LONG).succeeded()).isTrue();
            assertThat(reprise.await(next.get(), LONG).succeeded()).isTrue();
        }
    }

    @Test
    void a_stopped_worker_leaves_the_store_open_and_can_start_again() {
        RepriseBuilder builder = builder().handle(WORK, (text, job) -> seen.add(text));
        try (Reprise reprise = builder.start()) {
            reprise.stopWorker();
            reprise.stopWorker();
            JobId id = reprise.enqueue(WORK.job("later"));
            assertThat(reprise.find(id).orElseThrow().state()).isEqualTo(JobState.PENDING);
            reprise.startWorker();
            reprise.startWorker();
            assertThat(reprise.await(id, LONG).succeeded()).isTrue();
        }
        assertThat(seen).containsExactly("later");
    }

    @Test
    void a_handler_comes_too_late_once_the_worker_runs() {
        RepriseBuilder builder = builder().handle(WORK, (text, job) -> {});
        try (Reprise reprise = builder.start()) {
            assertThat(reprise.isWorking()).isTrue();
            assertThatIllegalStateException()
                    .isThrownBy(() -> builder.handle(JobType.of("more", String.class), (text, job) -> {}))
                    .withMessageContaining("'more'");
        }
    }

    @Test
    void a_closed_reprise_stores_nothing() {
        Reprise reprise = builder().start();
        reprise.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> reprise.enqueue(WORK.job("late")))
                .withMessageContaining("closed");
        // Said before anything else is looked at: a closed store would say less.
        assertThatIllegalStateException()
                .isThrownBy(() -> reprise.enqueue(WORK.job("long".repeat(JobSpec.MAX_PAYLOAD_BYTES))))
                .withMessageContaining("enqueue before close()");
        assertThatIllegalStateException().isThrownBy(reprise::startWorker);
    }

    @Test
    void a_handler_may_enqueue_while_its_worker_stops() throws Exception {
        InMemoryJobStore store = new InMemoryJobStore();
        AtomicReference<Reprise> started = new AtomicReference<>();
        CountDownLatch runs = new CountDownLatch(1);
        CountDownLatch stops = new CountDownLatch(1);
        Reprise reprise = Reprise.builder()
                .store(store)
                .codec(new TextCodec())
                .stopGrace(LONG)
                .handle(WORK, (text, job) -> {
                    runs.countDown();
                    stops.await();
                    seen.add(started.get()
                            .enqueue(WORK.job("follow").after(LONG))
                            .toString());
                })
                .start();
        started.set(reprise);
        reprise.enqueue(WORK.job("x"));
        runs.await();
        Thread closing = new Thread(reprise::close);
        closing.start();
        while (reprise.isWorking()) {
            Thread.onSpinWait();
        }
        stops.countDown();
        closing.join();
        assertThat(seen).hasSize(1);
    }

    @Test
    void interceptors_surround_enqueueing_and_runs_in_their_order() {
        JobId id;
        try (Reprise reprise = builder()
                .interceptor(new Noting("outer"))
                .interceptor(new Noting("inner"))
                .handle(WORK, (text, job) -> seen.add("handled " + job.job().queue()))
                .start()) {
            id = reprise.enqueue(WORK.job("x"));
            assertThat(reprise.await(id, LONG).succeeded()).isTrue();
            assertThat(reprise.find(id).orElseThrow().spec().tags()).containsExactlyInAnyOrder("outer", "inner");
        }
        assertThat(seen)
                .containsExactly(
                        "outer enqueues 1",
                        "inner enqueues 1",
                        "outer runs " + id,
                        "inner runs " + id,
                        "handled from-inner");
    }

    private final class Noting implements JobInterceptor {
        private final String name;

        Noting(String name) {
            this.name = name;
        }

        @Override
        public JobSpec onRequest(JobSpec job) {
            return job.toBuilder().queue("from-" + name).build();
        }

        @Override
        public List<Enqueued> onEnqueue(List<JobSpec> jobs, Storing next) {
            seen.add(name + " enqueues " + jobs.size());
            return next.store(jobs.stream().map(this::tagged).toList());
        }

        private JobSpec tagged(JobSpec job) {
            List<String> tags = new ArrayList<>(job.tags());
            tags.add(name);
            return job.toBuilder().tags(Set.copyOf(tags)).build();
        }

        @Override
        public void onRun(JobContext job, Handling next) throws Exception {
            seen.add(name + " runs " + job.id());
            next.handle();
        }
    }

    @Test
    void a_job_joins_the_current_transaction_and_is_announced_after_its_commit() {
        TransactionalStore store = new TransactionalStore();
        List<Runnable> afterCommit = new ArrayList<>();
        List<JobEvent.Kind> events = new ArrayList<>();
        try (Reprise reprise = Reprise.builder()
                .store(store.asStore())
                .codec(new TextCodec())
                .listener(event -> events.add(event.kind()))
                .joins(store.current(afterCommit))
                .open()) {
            reprise.enqueue(WORK.job("alone"));
            assertThat(events).containsExactly(JobEvent.Kind.ENQUEUED);
            store.open = new Transaction() {};
            reprise.enqueue(WORK.job("joined"));
            assertThat(store.joined).hasSize(1);
            assertThat(events).hasSize(1);
            afterCommit.forEach(Runnable::run);
            assertThat(events).containsExactly(JobEvent.Kind.ENQUEUED, JobEvent.Kind.ENQUEUED);
            assertThat(store.wakes).isEqualTo(1);
        }
    }

    /** An in-memory store that takes part in one kind of transaction. */
    private static final class TransactionalStore {
        private final InMemoryJobStore memory = new InMemoryJobStore();
        private final List<JobSpec> joined = new ArrayList<>();
        private @Nullable Transaction open;
        private int wakes;

        CurrentTransaction current(List<Runnable> afterCommit) {
            return new CurrentTransaction() {
                @Override
                public @Nullable Transaction find() {
                    return open;
                }

                @Override
                public void afterCommit(Runnable task) {
                    afterCommit.add(task);
                }
            };
        }

        JobStore asStore() {
            return (JobStore) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {JobStore.class},
                    (self, method, arguments) -> switch (method.getName()) {
                        case "within" -> writer();
                        case "wake" -> {
                            wakes++;
                            yield null;
                        }
                        default -> method.invoke(memory, arguments);
                    });
        }

        private JobWriter writer() {
            return (JobWriter) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {JobWriter.class}, (self, method, arguments) -> {
                        @SuppressWarnings("unchecked")
                        List<JobSpec> specs = (List<JobSpec>) arguments[0];
                        joined.addAll(specs);
                        return memory.insert(specs);
                    });
        }
    }
}
