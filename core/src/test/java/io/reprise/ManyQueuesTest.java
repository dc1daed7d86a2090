// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.job.JobId;
import io.reprise.job.JobSignal;
import io.reprise.job.JobState;
import io.reprise.store.ClaimRequest;
import io.reprise.store.JobStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A worker that serves every queue, beside thousands of them. */
class ManyQueuesTest {

    private final List<Integer> asked = new ArrayList<>();
    private final List<String> looks = new ArrayList<>();

    /** Notes how many queues each claim asks, and each look for queues. */
    private JobStore counting(JobStore store) {
        return (JobStore) Proxy.newProxyInstance(
                JobStore.class.getClassLoader(), new Class<?>[] {JobStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("claim")) {
                        asked.add(((ClaimRequest) args[0]).demands().size());
                    } else if (method.getName().equals("dueQueues")) {
                        looks.add((String) args[0]);
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static List<JobRequest<String>> inQueues(int queues, int jobs, Duration delay) {
        return IntStream.range(0, queues)
                .mapToObj(i -> "queue-%05d".formatted(i))
                .flatMap(name ->
                        Collections.nCopies(jobs, WORK.job(name).queue(name).after(delay)).stream())
                .toList();
    }

    @Test
    void queues_that_only_hold_delayed_jobs_cost_a_busy_queue_nothing() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder, this::counting)) {
            engine.reprise.enqueueAll(inQueues(5_000, 1, Duration.ofHours(1)));
            engine.worker.advance(Duration.ofSeconds(1));
            engine.reprise.enqueueAll(Collections.nCopies(20_000, WORK.job("x").queue("zz-busy")));
            engine.worker.advance(Duration.ofMillis(20));
            asked.clear();
            looks.clear();
            engine.worker.advance(Duration.ofSeconds(1));
            assertThat(engine.ran).hasSize(20_000);
            assertThat(asked).as("queues that each claim asked").allMatch(queues -> queues <= 2);
            // One round over all queues for each claim at most, by pages of 500: never one look for each queue.
            assertThat(looks.size())
                    .as("looks for other queues beside %s claims", asked.size())
                    .isLessThanOrEqualTo(12 * asked.size());
        }
    }

    @Test
    void every_one_of_many_queues_is_served() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder, this::counting)) {
            engine.reprise.enqueueAll(inQueues(1_500, 3, Duration.ZERO));
            engine.worker.advance(Duration.ofSeconds(1));
            assertThat(engine.ran).hasSize(4_500);
            assertThat(asked).allMatch(queues -> queues <= 120);
        }
    }

    @Test
    void a_queue_that_becomes_due_is_found_while_another_is_never_empty() {
        try (EngineFixture engine = new EngineFixture(
                (payload, job) -> {
                    if (payload.equals("again")) {
                        throw JobSignal.snooze(Duration.ofMillis(20));
                    }
                },
                builder -> builder.concurrency(2))) {
            engine.reprise.enqueueAll(inQueues(2_000, 1, Duration.ofHours(1)));
            engine.reprise.enqueueAll(Collections.nCopies(10, WORK.job("again").queue("zz-busy")));
            JobId late = engine.reprise.enqueue(
                    WORK.job("late").queue("queue-01000-b").after(Duration.ofSeconds(5)));
            engine.worker.advance(Duration.ofSeconds(8));
            assertThat(engine.job(late).state()).isEqualTo(JobState.SUCCEEDED);
        }
    }

    @Test
    void large_and_small_queues_take_turns() {
        try (EngineFixture engine = new EngineFixture((payload, job) -> {}, builder -> builder.concurrency(4))) {
            List<JobRequest<String>> jobs = new ArrayList<>(
                    Collections.nCopies(20_000, WORK.job("large").queue("large")));
            jobs.addAll(inQueues(50, 1, Duration.ZERO));
            engine.reprise.enqueueAll(jobs);
            engine.worker.runDue();
            int last = 0;
            for (int i = 0; i < engine.ran.size(); i++) {
                last = engine.ran.get(i).equals("large") ? last : i;
            }
            assertThat(engine.ran).hasSize(20_050);
            assertThat(last)
                    .as("jobs run before the last small queue had its turn")
                    .isLessThan(10_000);
        }
    }
}
