// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The jobs of others hardly wait while many deadlines pass. */
class DeadlinePaceTest {

    private static final Duration PER_ROW = Duration.ofNanos(100_000);

    private final List<Batch> batches = new ArrayList<>();

    private record Batch(Instant began, Instant ended) {
        Duration took() {
            return Duration.between(began, ended);
        }
    }

    /** A store in which each job that fails for its deadline takes a while. */
    private JobStore slow(JobStore store, ManualClock clock) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    Instant began = clock.instant();
                    try {
                        Object answer = method.invoke(store, args);
                        if (method.getName().equals("expire") && answer instanceof List<?> jobs && !jobs.isEmpty()) {
                            clock.advance(PER_ROW.multipliedBy(jobs.size()));
                            batches.add(new Batch(began, clock.instant()));
                        }
                        return answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void expiry_works_in_short_batches_and_rests_as_long_as_it_worked() {
        ManualClock clock = new ManualClock();
        InMemoryJobStore memory = new InMemoryJobStore(clock);
        JobType<String> late = WORK.retry(RetryPolicy.unset().deadline(Duration.ofMinutes(1)));
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(slow(memory, clock))
                        .codec(new TextCodec())
                        .queues(Queue.of("other"))
                        .handle(WORK, (payload, job) -> {}),
                clock)) {
            worker.reprise().enqueueAll(Collections.nCopies(5_000, late.job("x")));
            worker.advance(Duration.ofMinutes(2));
            assertThat(worker.reprise()
                            .find(JobQuery.all().state(JobState.PENDING))
                            .items())
                    .isEmpty();
        }
        assertThat(batches)
                .hasSizeGreaterThan(10)
                .allSatisfy(batch -> assertThat(batch.took()).isLessThan(Duration.ofMillis(60)));
        for (int i = 1; i < batches.size(); i++) {
            Batch before = batches.get(i - 1);
            assertThat(Duration.between(before.ended(), batches.get(i).began()))
                    .as("rest after batch %s", i)
                    .isGreaterThanOrEqualTo(before.took());
        }
    }
}
