// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.internal.engine.Engine;
import io.reprise.internal.engine.Starter;
import io.reprise.internal.engine.VirtualDriver;
import io.reprise.internal.run.HandlerExecutor;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerReport;
import io.reprise.retry.FailReason;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Payloads whose form changes from release to release, with workers of both releases running. */
class PayloadVersionTest {

    private static final JobType<String> OLD = JobType.of("charge", String.class);
    private static final JobType<String> NEW = OLD.version(3)
            .upcast(1, String.class, old -> old + ", once version 1")
            .retry(EngineFixture.EXACT);

    private final ManualClock clock = new ManualClock();
    private final VirtualDriver driver = new VirtualDriver(clock, clock::advance);
    private final InMemoryJobStore store = new InMemoryJobStore(clock);
    private final List<Reprise> workers = new ArrayList<>();
    private final List<String> byOld = new ArrayList<>();
    private final List<String> byNew = new ArrayList<>();

    private Reprise start(JobType<String> type, List<String> ran) {
        RepriseBuilder builder = Reprise.builder()
                .store(store)
                .codec(new TextCodec())
                .name("worker-" + workers.size())
                .concurrency(5)
                .handle(type, (payload, job) -> ran.add(payload));
        HandlerExecutor direct = new HandlerExecutor() {
            @Override
            public void execute(Runnable task) {
                task.run();
            }

            @Override
            public void close() {}
        };
        Reprise reprise =
                Starter.start(builder, new Engine.Environment(driver, direct, new SplittableRandom(workers.size())));
        workers.add(reprise);
        return reprise;
    }

    @AfterEach
    void close() {
        workers.forEach(Reprise::close);
    }

    @Test
    void in_a_rolling_deploy_newer_payloads_are_left_to_workers_that_know_them() {
        Reprise old = start(OLD, byOld);
        Reprise young = start(NEW, byNew);
        driver.advance(Duration.ofSeconds(1));
        for (int i = 0; i < 200; i++) {
            old.enqueue(OLD.job("old " + i));
            young.enqueue(NEW.job("new " + i));
        }
        driver.advance(Duration.ofMinutes(3));
        List<Job> jobs = store.find(JobQuery.all().limit(500)).items();
        assertThat(jobs.stream().map(Job::state).distinct()).containsExactly(JobState.SUCCEEDED);
        assertThat(jobs.stream().map(Job::attempts).distinct()).containsExactly(1);
        assertThat(byOld.size() + byNew.size()).isEqualTo(400);
        assertThat(byOld).isNotEmpty().allMatch(payload -> payload.startsWith("old"));
        assertThat(byNew)
                .containsAll(IntStream.range(0, 200).mapToObj(i -> "new " + i).toList());
        assertThat(byNew.stream().filter(payload -> payload.startsWith("old")))
                .allMatch(payload -> payload.endsWith(", once version 1"));
    }

    @Test
    void a_newer_payload_waits_while_only_old_workers_live_and_holds_up_nobody() {
        Reprise old = start(OLD, byOld);
        JobId newer = old.enqueue(NEW.job("new"));
        JobId usual = old.enqueue(OLD.job("old"));
        driver.advance(Duration.ofHours(1));
        assertThat(store.find(usual).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
        Job waiting = store.find(newer).orElseThrow();
        assertThat(waiting.state()).isEqualTo(JobState.PENDING);
        assertThat(waiting.attempts()).isZero();
        assertThat(waiting.status().waitReason()).isEqualTo(WaitReason.NO_HANDLER);
        assertThat(old.explain(newer).sentence()).contains("has a handler for charge#3");
        start(NEW, byNew);
        driver.advance(Duration.ofSeconds(30));
        assertThat(byNew).containsExactly("new");
    }

    @Test
    void an_older_payload_is_read_by_its_upcaster_or_as_it_is() {
        Reprise young = start(NEW, byNew);
        young.enqueue(OLD.job("a"));
        young.enqueue(OLD.version(2).job("b"));
        young.enqueue(NEW.job("c").tags("urgent"));
        driver.advance(Duration.ofSeconds(1));
        assertThat(byNew).containsExactlyInAnyOrder("a, once version 1", "b", "c");
        assertThat(store.find(JobQuery.all().tag("version:3")).items())
                .singleElement()
                .satisfies(job -> assertThat(job.spec().tags()).contains("urgent"));
    }

    @Test
    void a_payload_that_its_upcaster_refuses_is_a_dead_letter_with_the_reason() {
        JobType<String> strict = OLD.version(2).upcast(1, String.class, old -> {
            throw new IllegalArgumentException("no currency");
        });
        Reprise young = start(strict, byNew);
        JobId id = young.enqueue(OLD.job("a"));
        driver.advance(Duration.ofSeconds(1));
        Job job = store.find(id).orElseThrow();
        assertThat(job.failReason()).isEqualTo(FailReason.UNREADABLE);
        assertThat(byNew).isEmpty();
        assertThat(String.valueOf(job.status().lastError())).contains("no currency");
    }

    @Test
    void the_key_of_an_idempotent_type_has_the_version_in_it() {
        Reprise young = start(NEW, byNew);
        JobId first = young.enqueue(OLD.idempotent().job("a"));
        assertThat(young.enqueue(OLD.idempotent().job("a"))).isEqualTo(first);
        assertThat(young.enqueue(OLD.version(2).idempotent().job("a"))).isNotEqualTo(first);
    }

    @Test
    void bounds_are_named() {
        assertThatThrownBy(() -> OLD.version(0)).hasMessage("version must be 1 to 9999, not 0");
        assertThatThrownBy(() -> OLD.upcast(0, String.class, old -> old)).hasMessage("from must be 1 to 9999, not 0");
        assertThatThrownBy(() -> NEW.job("a").tags("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"))
                .hasMessage("tags must be at most 9 beside the version of the payload, not 10");
        WorkerReport report = new WorkerReport("w", List.of(), List.of("charge", "charge#3"), 1, 0);
        assertThat(List.of("charge", "charge#2", "charge#3")).allMatch(report::handles);
        assertThat(List.of("charge#4", "char#2", "charge2", "charge#x")).noneMatch(report::handles);
    }
}
