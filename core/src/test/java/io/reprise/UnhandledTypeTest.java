// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static io.reprise.EngineFixture.WORK;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.insight.Alert;
import io.reprise.insight.Explanation;
import io.reprise.insight.JobEvent;
import io.reprise.internal.engine.Engine;
import io.reprise.internal.engine.Starter;
import io.reprise.internal.engine.VirtualDriver;
import io.reprise.internal.run.HandlerExecutor;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Jobs of types that some worker, or every worker, has no handler for. */
class UnhandledTypeTest {

    private static final JobType<String> RARE = JobType.of("rare", String.class);

    private final ManualClock clock = new ManualClock();
    private final VirtualDriver driver = new VirtualDriver(clock, clock::advance);
    private final InMemoryJobStore store = new InMemoryJobStore(clock);
    private final List<Reprise> workers = new ArrayList<>();
    private final List<String> ran = new ArrayList<>();
    private final List<Alert> alerts = new ArrayList<>();
    private int parked;

    private Reprise start(JobType<String> type) {
        RepriseBuilder builder = Reprise.builder()
                .store(store)
                .codec(new TextCodec())
                .name("worker-" + workers.size())
                .concurrency(10)
                .listener(new JobListener() {
                    @Override
                    public void onEvent(JobEvent event) {
                        parked += event.kind() == JobEvent.Kind.PARKED ? 1 : 0;
                    }

                    @Override
                    public void onAlert(Alert alert) {
                        alerts.add(alert);
                    }
                })
                .handle(type, (payload, job) -> ran.add(payload));
        Engine.Environment environment =
                new Engine.Environment(driver, new Direct(), new SplittableRandom(workers.size()));
        Reprise reprise = Starter.start(builder, environment);
        workers.add(reprise);
        return reprise;
    }

    /** Runs handlers in the calling thread. */
    private static final class Direct implements HandlerExecutor {
        @Override
        public void execute(Runnable task) {
            task.run();
        }

        @Override
        public void close() {}
    }

    @AfterEach
    void close() {
        workers.forEach(Reprise::close);
    }

    @Test
    void jobs_that_nobody_handles_are_parked_once_and_hold_up_nobody() {
        Reprise worker = start(WORK);
        worker.enqueueAll(Collections.nCopies(3_000, RARE.job("rare")));
        JobId good = worker.enqueue(WORK.job("good"));
        driver.advance(Duration.ofHours(2));
        assertThat(store.find(good).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
        assertThat(parked).as("writes for 3,000 jobs in two hours").isEqualTo(3_000);
        assertThat(ran).containsExactly("good");
    }

    @Test
    void explain_says_that_nobody_handles_it() {
        Reprise worker = start(WORK);
        JobId id = worker.enqueue(RARE.job("rare"));
        driver.advance(Duration.ofSeconds(1));
        Explanation why = worker.explain(id);
        assertThat(why.reasons()).containsExactly(new Explanation.NoHandler("default", "rare"));
        assertThat(why.sentence()).contains("no live worker that serves queue default has a handler for rare");
        assertThat(store.find(id).orElseThrow().status().waitReason()).isEqualTo(WaitReason.NO_HANDLER);
    }

    @Test
    void a_worker_with_the_handler_gets_what_was_parked() {
        Reprise first = start(WORK);
        first.enqueueAll(Collections.nCopies(500, RARE.job("rare")));
        driver.advance(Duration.ofMinutes(1));
        assertThat(ran).isEmpty();
        start(RARE);
        driver.advance(Duration.ofSeconds(15));
        assertThat(ran).hasSize(500);
    }

    @Test
    void a_type_of_another_worker_is_left_to_it() {
        Reprise first = start(WORK);
        start(RARE);
        driver.advance(Duration.ofSeconds(1));
        List<JobRequest<String>> jobs = new ArrayList<>(Collections.nCopies(500, RARE.job("rare")));
        jobs.addAll(Collections.nCopies(500, WORK.job("work")));
        List<JobId> ids = first.enqueueAll(jobs);
        driver.advance(Duration.ofSeconds(5));
        assertThat(ran).hasSize(1_000);
        assertThat(parked).isZero();
        assertThat(ids)
                .allSatisfy(id ->
                        assertThat(store.find(id).orElseThrow().attempts()).isEqualTo(1));
    }

    @Test
    void a_worker_that_is_back_within_a_minute_finds_its_jobs_where_they_were() {
        Reprise first = start(WORK);
        Reprise rare = start(RARE);
        driver.advance(Duration.ofSeconds(1));
        first.enqueueAll(Collections.nCopies(10, RARE.job("rare")));
        driver.advance(Duration.ofSeconds(25));
        assertThat(ran).hasSize(10);
        rare.close();
        workers.remove(rare);
        first.enqueueAll(Collections.nCopies(10, RARE.job("rare")));
        driver.advance(Duration.ofSeconds(30));
        assertThat(parked).isZero();
        driver.advance(Duration.ofMinutes(2));
        assertThat(parked).as("after a minute without a worker").isEqualTo(10);
    }

    @Test
    void it_is_alerted_once_and_cleared_when_a_worker_has_the_handler() {
        Reprise worker = start(WORK);
        worker.enqueueAll(Collections.nCopies(10, RARE.job("rare")));
        driver.advance(Duration.ofMinutes(1));
        assertThat(alerts).hasSize(1);
        assertThat(alerts.get(0).kind()).isEqualTo(Alert.Kind.NO_HANDLER);
        assertThat(alerts.get(0).message()).isEqualTo("No worker handles rare: its jobs wait in 1 queue");
        start(RARE);
        driver.advance(Duration.ofMinutes(1));
        assertThat(alerts).filteredOn(alert -> !alert.isRaised()).isNotEmpty();
        assertThat(store.alerts()).isEmpty();
    }
}
