// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.EXACT;
import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.failure.FailureClass;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.retry.FailReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class DeferredHandlerTest {

    private final ManualClock clock = new ManualClock();
    private final List<Consumer<Throwable>> ends = new ArrayList<>();
    private int stops;

    private final DeferredHandler<String> handler = (payload, job, end) -> {
        ends.add(end);
        job.result("as begun");
        return () -> {
            stops++;
            end.accept(new InterruptedException());
        };
    };

    private final InlineWorker worker = InlineWorker.start(
            Reprise.builder()
                    .store(new InMemoryJobStore(clock))
                    .codec(new TextCodec())
                    .handle(WORK, handler),
            clock);

    private Job enqueued(JobRequest<String> request) {
        JobId id = worker.reprise().enqueue(request);
        worker.runDue();
        return job(id);
    }

    private Job job(JobId id) {
        return worker.reprise().find(id).orElseThrow();
    }

    @Test
    void a_run_lasts_until_its_end_is_told() {
        JobId id = enqueued(WORK.job("a")).id();
        worker.advance(Duration.ofMinutes(5));
        assertThat(job(id).state()).isEqualTo(JobState.RUNNING);
        ends.get(0).accept(null);
        worker.runDue();
        assertThat(job(id).status().result()).isEqualTo("as begun");
        Attempt attempt = worker.reprise().attempts(id).get(0);
        assertThat(Duration.between(attempt.startedAt(), attempt.endedAt())).isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void what_it_failed_of_is_judged_by_the_policy() {
        JobId id = enqueued(WORK.job("a").retry(EXACT)).id();
        ends.get(0).accept(new IOException("no"));
        worker.runDue();
        assertThat(job(id).status().waitReason()).isEqualTo(WaitReason.RETRY);
        worker.advance(Duration.ofSeconds(1));
        assertThat(ends).hasSize(2);
    }

    @Test
    void a_timeout_stops_it_without_interrupting_the_thread_it_began_on() {
        JobId id = enqueued(WORK.job("a").timeout(Duration.ofSeconds(1)).retry(RetryPolicy.none()))
                .id();
        worker.advance(Duration.ofSeconds(2));
        assertThat(stops).isEqualTo(1);
        assertThat(Thread.interrupted()).isFalse();
        assertThat(job(id).status().failReason()).isEqualTo(FailReason.EXHAUSTED);
        assertThat(worker.reprise().attempts(id).get(0).decision().failureClass())
                .isEqualTo(FailureClass.TIMEOUT);
    }

    /** A worker with two places. Its handler counts the runs that are in progress. */
    private final class Crowded {
        final List<Consumer<Throwable>> open = new ArrayList<>();
        int begun;
        boolean endsAtOnce = true;
        boolean thenThrows;
        final InlineWorker crowded = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .codec(new TextCodec())
                        .concurrency(2)
                        .handle(WORK, (DeferredHandler<String>) (payload, job, end) -> {
                            begun++;
                            if (endsAtOnce) {
                                end.accept(null);
                                if (thenThrows) {
                                    throw new IOException("after the end");
                                }
                            } else {
                                open.add(end);
                            }
                            return () -> {};
                        }),
                clock);

        void enqueue(int jobs) {
            crowded.reprise().enqueueAll(Collections.nCopies(jobs, WORK.job("a")));
            crowded.runDue();
        }

        long succeeded() {
            return crowded.reprise().queues().get(0).count(JobState.SUCCEEDED);
        }
    }

    @Test
    void jobs_fetched_ahead_wait_for_a_place_until_a_run_ends() {
        Crowded two = new Crowded();
        two.enqueue(20);
        assertThat(two.begun).isEqualTo(20);
        two.endsAtOnce = false;
        two.enqueue(50);
        for (int ended = 0; ended < 50; ended++) {
            assertThat(two.open).hasSizeLessThanOrEqualTo(2).isNotEmpty();
            two.open.remove(0).accept(null);
            two.crowded.runDue();
        }
        assertThat(two.succeeded()).isEqualTo(70);
    }

    @Test
    void a_run_that_ends_twice_frees_one_place() {
        Crowded two = new Crowded();
        two.endsAtOnce = false;
        for (int i = 0; i < 10; i++) {
            two.enqueue(1);
            worker.advance(Duration.ofSeconds(1));
            Consumer<Throwable> end = two.open.remove(0);
            end.accept(null);
            end.accept(new IOException("again"));
            two.crowded.runDue();
        }
        two.enqueue(50);
        assertThat(two.open).hasSize(2);
        assertThat(two.succeeded()).isEqualTo(10);
    }

    @Test
    void a_run_that_throws_after_its_end_frees_one_place_and_keeps_its_outcome() {
        Crowded two = new Crowded();
        two.thenThrows = true;
        two.enqueue(10);
        assertThat(two.succeeded()).isEqualTo(10);
        two.endsAtOnce = false;
        two.enqueue(50);
        assertThat(two.open).hasSize(2);
    }
}
