// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.failure.FailureDetails;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.JobEvent;
import io.reprise.insight.ResourceStatus;
import io.reprise.internal.engine.Engine;
import io.reprise.internal.engine.Starter;
import io.reprise.internal.engine.VirtualDriver;
import io.reprise.internal.run.HandlerExecutor;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Several engines on one store in virtual time, and a provider that can be down or limited. */
final class ControlFixture implements AutoCloseable {

    static final JobType<String> CALL = JobType.of("call", String.class);
    static final String PROVIDER = "provider-a";

    /** What a limited provider answers. */
    static final class Answer extends IOException implements FailureDetails {
        private static final long serialVersionUID = 1L;
        private final int status;

        Answer(int status) {
            super("status " + status);
            this.status = status;
        }

        @Override
        public Integer httpStatus() {
            return status;
        }
    }

    final ManualClock clock = new ManualClock();
    final Instant start = clock.instant();
    final VirtualDriver driver = new VirtualDriver(clock, clock::advance);
    final InMemoryJobStore store = new InMemoryJobStore(clock);
    final List<Reprise> workers = new ArrayList<>();
    final List<ControlEvent> events = new ArrayList<>();
    final List<Long> callSeconds = new ArrayList<>();
    private final SplittableRandom seeds = new SplittableRandom(7);

    int parkings;
    boolean down;
    int perSecond = Integer.MAX_VALUE;
    int statusAboveLimit = 503;

    @Nullable
    Exception failure;

    ControlFixture(int count) {
        this(count, builder -> builder);
    }

    ControlFixture(int count, UnaryOperator<RepriseBuilder> options) {
        for (int i = 0; i < count; i++) {
            add(options);
        }
    }

    Reprise add(UnaryOperator<RepriseBuilder> options) {
        RepriseBuilder builder = Reprise.builder()
                .store(store)
                .codec(new TextCodec())
                .name("worker-" + (workers.size() + 1))
                .concurrency(50)
                .listener(new JobListener() {
                    @Override
                    public void onEvent(JobEvent event) {
                        parkings += event.kind() == JobEvent.Kind.PARKED ? 1 : 0;
                    }

                    @Override
                    public void onControl(ControlEvent event) {
                        events.add(event);
                    }
                })
                .handle(CALL, (payload, job) -> call());
        Reprise worker = Starter.start(
                options.apply(builder), new Engine.Environment(driver, new CallingThread(), seeds.split()));
        workers.add(worker);
        return worker;
    }

    private void call() throws Exception {
        long second = Duration.between(start, clock.instant()).toSeconds();
        callSeconds.add(second);
        if (down) {
            throw new ConnectException("refused");
        }
        if (failure != null) {
            throw failure;
        }
        if (perSecond < Integer.MAX_VALUE && calls(second, second + 1) > perSecond) {
            throw new Answer(statusAboveLimit);
        }
    }

    Reprise any() {
        return workers.get(0);
    }

    JobId enqueue() {
        return any().enqueue(CALL.job("x").resource(PROVIDER));
    }

    /** Enqueues at a steady rate while time passes. */
    void arrive(int perSecond, int seconds) {
        Duration gap = Duration.ofSeconds(1).dividedBy(perSecond);
        for (int i = 0; i < perSecond * seconds; i++) {
            enqueue();
            driver.advance(gap);
        }
    }

    void pass(Duration duration) {
        driver.advance(duration);
    }

    long calls(long fromSecond, long untilSecond) {
        return callSeconds.stream()
                .filter(second -> second >= fromSecond && second < untilSecond)
                .count();
    }

    long peak(long fromSecond, long untilSecond) {
        long peak = 0;
        for (long second = fromSecond; second < untilSecond; second++) {
            peak = Math.max(peak, calls(second, second + 1));
        }
        return peak;
    }

    long count(JobState state) {
        return store.queues().stream().mapToLong(queue -> queue.count(state)).sum();
    }

    ResourceStatus provider() {
        return any().resources().stream()
                .filter(resource -> resource.name().equals(PROVIDER))
                .findFirst()
                .orElseThrow();
    }

    List<ControlEvent.Kind> kinds() {
        return events.stream().map(ControlEvent::kind).toList();
    }

    @Override
    public void close() {
        workers.forEach(Reprise::close);
    }

    private static final class CallingThread implements HandlerExecutor {
        @Override
        public void execute(Runnable work) {
            work.run();
        }

        @Override
        public void close() {}
    }
}
