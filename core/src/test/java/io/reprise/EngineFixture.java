// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.insight.JobEvent;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.retry.Jitter;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** An engine in virtual time with one job type, and everything it told its listeners. */
public final class EngineFixture implements AutoCloseable {

    public static final JobType<String> WORK = JobType.of("work", String.class);

    /** 1, 2, 4 … s, exactly. */
    public static final RetryPolicy EXACT =
            RetryPolicy.exponential(Duration.ofSeconds(1)).jitter(Jitter.none()).maxAttempts(4);

    public final ManualClock clock = new ManualClock();
    public final Instant start = clock.instant();
    public final InMemoryJobStore memory = new InMemoryJobStore(clock);
    public final List<JobEvent> events = new ArrayList<>();
    public final List<String> ran = new ArrayList<>();
    public final InlineWorker worker;
    public final Reprise reprise;

    public EngineFixture(JobHandler<String> handler) {
        this(handler, builder -> builder);
    }

    public EngineFixture(JobHandler<String> handler, UnaryOperator<RepriseBuilder> options) {
        this(handler, options, store -> store);
    }

    public EngineFixture(
            JobHandler<String> handler, UnaryOperator<RepriseBuilder> options, UnaryOperator<JobStore> wrapping) {
        RepriseBuilder builder = Reprise.builder()
                .store(wrapping.apply(memory))
                .codec(new TextCodec())
                .listener(events::add)
                .handle(WORK, (payload, job) -> {
                    ran.add(payload);
                    handler.handle(payload, job);
                });
        worker = InlineWorker.start(options.apply(builder), clock);
        reprise = worker.reprise();
    }

    public Job job(JobId id) {
        return reprise.find(id).orElseThrow();
    }

    public List<JobEvent.Kind> kinds() {
        return events.stream().map(JobEvent::kind).toList();
    }

    public Duration sinceStart(Instant instant) {
        return Duration.between(start, instant);
    }

    @Override
    public void close() {
        worker.close();
    }
}
