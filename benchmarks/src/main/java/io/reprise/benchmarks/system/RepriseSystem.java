// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Target;
import io.reprise.control.ControlSettings;
import io.reprise.insight.JobEvent;
import io.reprise.jackson.JacksonCodec;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobState;
import io.reprise.job.QueueState;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Reprise with its own defaults; history, fencing and durable commits as always. */
public final class RepriseSystem implements QueueSystem {

    private static final JobType<String> WORK = JobType.of("work", String.class)
            .retry(RetryPolicy.fixed(Duration.ZERO).jitter(Jitter.none()));
    private static final JobType<String> HOPELESS =
            JobType.of("hopeless", String.class).retry(RetryPolicy.none());
    private static final JobType<String> SLEEP = JobType.of("sleep", String.class)
            .retry(RetryPolicy.fixed(Duration.ZERO).noDeadline());
    private static final int CHUNK = 50_000;

    @Override
    public String name() {
        return "reprise";
    }

    @Override
    public boolean hasSteps() {
        return true;
    }

    @Override
    public void install(Target target) {
        try (JdbcJobStore store = store(target)) {
            store.prepare();
        }
    }

    @Override
    public Installation open(Target target) {
        return new Opened(target, null, ControlSettings.DEFAULT, UnaryOperator.identity());
    }

    /** Opens it with further settings of client and worker. */
    public static Installation open(Target target, UnaryOperator<RepriseBuilder> more) {
        return new Opened(target, null, ControlSettings.DEFAULT, more);
    }

    /** Opens it beside so many jobs that are not due. */
    public static Installation open(Target target, int asleep) {
        Opened opened = new Opened(target, null, ControlSettings.DEFAULT, UnaryOperator.identity());
        opened.scheduled = asleep;
        return opened;
    }

    /** Runs jobs until each of them sleeps in a step for a day. */
    public static void fillAsleep(Target target, int jobs) {
        LongAdder asleep = new LongAdder();
        try (Reprise filler = Reprise.builder()
                .store(store(target))
                .codec(new JacksonCodec())
                .handle(SLEEP, (payload, job) -> job.sleep("night", Duration.ofDays(1)))
                .listener(event -> {
                    if (event.kind() == JobEvent.Kind.SNOOZED) {
                        asleep.increment();
                    }
                })
                .start()) {
            fill(filler, SLEEP, jobs, asleep);
        }
    }

    private static void fill(Reprise filler, JobType<String> type, int jobs, LongAdder ended) {
        for (int from = 0; from < jobs; from += CHUNK) {
            int to = Math.min(jobs, from + CHUNK);
            filler.enqueueAll(Payloads.range(from, to).stream().map(type::job).toList());
            while (ended.sum() < to) {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    /** Opens it with jobs that name a resource. */
    public static Installation open(Target target, String resource, ControlSettings control) {
        return new Opened(target, resource, control, UnaryOperator.identity());
    }

    public static JdbcJobStore store(Target target) {
        return JdbcJobStore.open(target.jdbcUrl());
    }

    /** Returns a client that enqueues and runs nothing. */
    public static Reprise client(Target target) {
        return client(target, UnaryOperator.identity());
    }

    private static Reprise client(Target target, UnaryOperator<RepriseBuilder> more) {
        return more.apply(Reprise.builder().store(store(target)).codec(new JacksonCodec()))
                .start();
    }

    private static final class Opened implements Installation {

        private final Target target;
        private final @Nullable String resource;
        private final ControlSettings control;
        private final UnaryOperator<RepriseBuilder> more;
        private final Reprise client;
        private final List<Reprise> workers = new ArrayList<>();
        private final LongAdder started = new LongAdder();
        private final LongAdder settled = new LongAdder();
        private long scheduled;

        Opened(Target target, @Nullable String resource, ControlSettings control, UnaryOperator<RepriseBuilder> more) {
            this.target = target;
            this.resource = resource;
            this.control = control;
            this.more = more;
            this.client = client(target, more);
        }

        private JobRequest<String> job(String payload) {
            JobRequest<String> job = WORK.job(payload);
            return resource == null ? job : job.resource(resource);
        }

        @Override
        public void enqueue(String payload) {
            client.enqueue(job(payload));
        }

        @Override
        public void enqueueAll(List<String> payloads) {
            client.enqueueAll(payloads.stream().map(this::job).toList());
        }

        @Override
        public void fillScheduled(int jobs) {
            for (int from = 0; from < jobs; from += CHUNK) {
                client.enqueueAll(Payloads.range(from, Math.min(jobs, from + CHUNK)).stream()
                        .map(payload -> WORK.job(payload).after(Duration.ofDays(1)))
                        .toList());
            }
            scheduled += jobs;
        }

        @Override
        public void fillFinished(int succeeded, int failed) {
            LongAdder ended = new LongAdder();
            try (Reprise filler = Reprise.builder()
                    .store(store(target))
                    .codec(new JacksonCodec())
                    .handle(WORK, (payload, job) -> {})
                    .handle(HOPELESS, (payload, job) -> {
                        throw new Ledger.Failed(Payloads.number(payload));
                    })
                    .listener(event -> {
                        if (event.kind() == JobEvent.Kind.SUCCEEDED || event.kind() == JobEvent.Kind.FAILED) {
                            ended.increment();
                        }
                    })
                    .start()) {
                fill(filler, WORK, succeeded, ended);
                ended.reset();
                fill(filler, HOPELESS, failed, ended);
            }
        }

        @Override
        public void start(Handler handler) {
            startSteps(handler, 0);
        }

        @Override
        public void startSteps(Handler handler, int steps) {
            RepriseBuilder builder = Reprise.builder();
            workers.add(more.apply((steps == 0 ? builder : builder.concurrency(STEP_RUNS))
                            .store(store(target))
                            .codec(new JacksonCodec())
                            .control(control)
                            .handle(WORK, (payload, job) -> {
                                handler.begin();
                                for (int i = 0; i < steps; i++) {
                                    job.step("step-" + i, () -> {});
                                }
                                handler.run(payload);
                            })
                            .listener(this::count))
                    .start());
        }

        /** An event follows its commit, so the two counts are equal when nothing is under way. */
        private void count(JobEvent event) {
            switch (event.kind()) {
                case STARTED -> started.increment();
                case SUCCEEDED, FAILED, RETRY_SCHEDULED, RELEASED, STALE -> settled.increment();
                default -> {}
            }
        }

        @Override
        public boolean isSettled() {
            return settled.sum() == started.sum();
        }

        @Override
        public long left() {
            long left = 0;
            for (QueueState queue : client.queues()) {
                left += queue.count(JobState.RUNNING) + queue.count(JobState.PENDING);
            }
            return left - scheduled;
        }

        @Override
        public void close() {
            workers.forEach(Reprise::close);
            client.close();
        }
    }
}
