// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc;

import static io.reprise.testkit.servers.Patience.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.JobListener;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.control.BreakerPhase;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import io.reprise.control.ControlSettings;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.JobEvent;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.WaitReason;
import io.reprise.retry.RetryPolicy;
import io.reprise.testkit.servers.MariaDbServer;
import io.reprise.testkit.servers.PostgresServer;
import java.net.ConnectException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Breakers and budgets of real workers with threads, each with a store of its own on one database. */
@Timeout(600)
class ControlFleetTest {

    private static final JobType<String> CALL = JobType.of("call", String.class);
    private static final String PROVIDER = "provider-a";
    private static final int PROBES = 2;
    private static final RetryPolicy QUICK =
            RetryPolicy.fixed(Duration.ofMillis(20)).maxAttempts(1_000).noDeadline();
    private static final BreakerSettings BREAKER =
            BreakerSettings.DEFAULT.opensAfter(5).probes(PROBES, Duration.ofMillis(100), Duration.ofHours(1));

    @TempDir
    private Path directory;

    private final List<Reprise> fleet = new ArrayList<>();
    private final Queue<ControlEvent> events = new ConcurrentLinkedQueue<>();
    /** Workers that hold back jobs: they have heard of the breaker. */
    private final Set<Integer> parking = ConcurrentHashMap.newKeySet();

    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger mostAtOnce = new AtomicInteger();
    private volatile @Nullable Exception failure;

    @AfterEach
    void stop() {
        fleet.forEach(Reprise::close);
        fleet.clear();
    }

    private String url(String database) {
        return switch (database) {
            case "sqlite" -> "sqlite:" + directory.resolve("jobs.db");
            case "mariadb" -> MariaDbServer.shared().freshDatabaseUrl();
            default -> PostgresServer.shared().freshDatabaseUrl();
        };
    }

    private void start(String url, int workers, ControlSettings settings) {
        for (int i = 0; i < workers; i++) {
            fleet.add(worker(url, settings));
        }
    }

    private Reprise worker(String url, ControlSettings settings) {
        int number = fleet.size();
        RepriseBuilder builder = Reprise.builder()
                .store(JdbcJobStore.open(url))
                .codec(new WorkerProcess.TextCodec())
                .control(settings)
                .retry(QUICK)
                .concurrency(10)
                .listener(new JobListener() {
                    @Override
                    public void onEvent(JobEvent event) {
                        if (event.kind() == JobEvent.Kind.PARKED) {
                            parking.add(number);
                        }
                    }

                    @Override
                    public void onControl(ControlEvent event) {
                        events.add(event);
                    }
                })
                .handle(CALL, (payload, job) -> call());
        return builder.start();
    }

    private void call() throws Exception {
        calls.incrementAndGet();
        mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
        try {
            Exception thrown = failure;
            if (thrown != null) {
                throw thrown;
            }
        } finally {
            atOnce.decrementAndGet();
        }
    }

    private List<JobId> enqueue(int jobs) {
        return fleet.get(0).enqueueAll(Collections.nCopies(jobs, CALL.job("x").resource(PROVIDER)));
    }

    /** Otherwise gives one more job to each that has parked none yet: who stores it is the first to look for it. */
    private boolean allPark(List<JobId> ids) {
        if (parking.size() == fleet.size()) {
            return true;
        }
        for (Reprise worker : fleet) {
            if (!parking.contains(fleet.indexOf(worker))) {
                ids.add(worker.enqueue(CALL.job("x").resource(PROVIDER)));
            }
        }
        return false;
    }

    private ResourceStatus provider(Reprise worker) {
        return worker.resources().stream()
                .filter(resource -> resource.name().equals(PROVIDER))
                .findFirst()
                .orElseThrow();
    }

    private long parked() {
        return fleet.get(0).resources().stream()
                .mapToLong(ResourceStatus::parked)
                .sum();
    }

    private long succeeded() {
        return fleet.get(0).queues().stream()
                .mapToLong(queue -> queue.count(JobState.SUCCEEDED))
                .sum();
    }

    private boolean allSucceeded(List<JobId> ids) {
        return ids.stream().allMatch(id -> fleet.get(1).find(id).orElseThrow().state() == JobState.SUCCEEDED);
    }

    private long count(ControlEvent.Kind kind, String why) {
        return events.stream()
                .filter(event -> event.kind() == kind && event.why().contains(why))
                .count();
    }

    private boolean waits(JobId id, WaitReason reason) {
        return fleet.get(1).find(id).orElseThrow().status().waitReason() == reason;
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql", "mariadb"})
    void a_breaker_opens_once_for_all_and_only_its_probes_call(String database) {
        start(url(database), 3, ControlSettings.DEFAULT.breaker(BREAKER));
        failure = new ConnectException("refused");
        List<JobId> ids = new ArrayList<>(enqueue(24));
        // Until each of them has heard of it and all jobs are parked: from then on each call is a probe's.
        until(() -> parked() == ids.size() && allPark(ids));
        int jobs = ids.size();
        int before = calls.get();
        mostAtOnce.set(0);
        long rounds = count(ControlEvent.Kind.BREAKER_HALF_OPENED, "");
        until(() -> count(ControlEvent.Kind.BREAKER_HALF_OPENED, "") >= rounds + 3);
        assertThat(mostAtOnce.get()).as("probes at once in the fleet").isLessThanOrEqualTo(PROBES);
        assertThat(calls.get()).as("probes").isGreaterThan(before);
        assertThat(count(ControlEvent.Kind.BREAKER_OPENED, "in a row"))
                .as("openings by failures, told in the whole fleet")
                .isEqualTo(1);
        failure = null;
        until(() -> succeeded() == jobs);
        int spent = 0;
        for (JobId id : ids) {
            spent += fleet.get(1).find(id).map(Job::attempts).orElseThrow() - 1;
        }
        assertThat(spent)
                .as("attempts that failures cost: none of a probe, none while parked")
                .isLessThanOrEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql", "mariadb"})
    void a_breaker_forced_by_hand_survives_when_all_restart(String database) {
        String url = url(database);
        start(url, 2, ControlSettings.DEFAULT);
        fleet.get(0).as("ada", "maintenance").forceOpen(PROVIDER);
        until(() -> provider(fleet.get(1)).phase() == BreakerPhase.OPEN);
        JobId id = enqueue(1).get(0);
        // A worker that does not know yet may still run a job or two; later jobs are parked.
        until(() -> {
            enqueue(1);
            return parked() > 0;
        });
        stop();
        int before = calls.get();
        start(url, 2, ControlSettings.DEFAULT);
        ResourceStatus status = provider(fleet.get(1));
        assertThat(status.phase()).isEqualTo(BreakerPhase.OPEN);
        assertThat(status.why()).isEqualTo("kept open by ada: maintenance");
        assertThat(parked()).isPositive();
        assertThat(calls.get()).isEqualTo(before);
        fleet.get(1).as("grace", "done").forceClose(PROVIDER);
        until(() -> parked() == 0
                && fleet.get(0).find(id).orElseThrow().state() == JobState.SUCCEEDED
                && provider(fleet.get(0)).phase() == BreakerPhase.CLOSED);
        assertThat(provider(fleet.get(0)).why()).isEqualTo("kept closed by grace: done");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgresql", "mariadb"})
    void a_budget_is_shared_and_caps_the_retries_in_flight(String database) {
        int retries = 10;
        int workers = 3;
        BudgetSettings small =
                BudgetSettings.OF_RESOURCE.capacity(14.0 * retries).floor(0.001);
        start(url(database), workers, ControlSettings.DEFAULT.resourceBudget(small));
        failure = new IllegalStateException("not now");
        int jobs = 40;
        List<JobId> ids = enqueue(jobs);
        until(() -> parked() == jobs);
        until(() -> count(ControlEvent.Kind.RESOURCE_BUDGET_EMPTIED, "") > 0);
        until(() -> fleet.stream().allMatch(worker -> provider(worker).budget().level() < 14));
        until(() -> ids.stream().allMatch(id -> waits(id, WaitReason.BUDGET)));
        // Each worker may spend what it last saw, the leader too: at most all of it each.
        assertThat(calls.get()).isBetween(jobs + retries, jobs + (workers + 1) * retries);
        failure = null;
        // Who tells late what it spent takes away what was earned meanwhile, so successes go on until all are through.
        while (!allSucceeded(ids)) {
            List<JobId> fresh = enqueue(100);
            until(() -> allSucceeded(fresh));
        }
    }
}
