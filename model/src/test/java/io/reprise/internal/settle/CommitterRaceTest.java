// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.JobRequest;
import io.reprise.PayloadCodec;
import io.reprise.control.ControlSettings;
import io.reprise.internal.Race;
import io.reprise.internal.control.ControlConfig;
import io.reprise.internal.control.LiveSettings;
import io.reprise.internal.control.LocalControl;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.Still;
import io.reprise.internal.engine.StoreClock;
import io.reprise.internal.engine.WorkerSettings;
import io.reprise.internal.run.HandlerEnqueuer;
import io.reprise.internal.run.HandlerExecutor;
import io.reprise.internal.run.Handlers;
import io.reprise.internal.run.Interceptors;
import io.reprise.internal.run.LeaseBook;
import io.reprise.internal.run.Run;
import io.reprise.internal.run.RunResult;
import io.reprise.internal.run.UnhandledTypes;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.FleetSettings;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Handlers end while the committer writes: every outcome is written once, and it is idle only when all are. */
class CommitterRaceTest {

    private static final Duration LONG = Duration.ofHours(1);
    private static final JobSpec JOB = JobSpec.builder("work", "1").build();
    private static final WorkerSettings SETTINGS = new WorkerSettings(
            "worker",
            2,
            List.of(),
            Map.of(),
            false,
            0.2,
            new WorkerSettings.Timing(LONG, LONG, LONG, LONG),
            new WorkerSettings.Keep(LONG, null, LONG),
            Set.of(),
            false);

    private static void race() {
        InMemoryJobStore store = new InMemoryJobStore();
        store.insert(List.of(JOB, JOB));
        Claim claim = store.claim(new ClaimRequest(
                        "worker", LONG, 2, List.of(new ClaimRequest.Demand(JobSpec.DEFAULT_QUEUE, 2)), 0.2, true))
                .get(0);
        LeaseBook book = new LeaseBook();
        List<Run> runs = book.add(claim, 0, LONG.toNanos());
        AtomicInteger freed = new AtomicInteger();
        Committer committer = committer(store, book, freed);
        Race.together(
                () -> committer.accept(succeeded(runs.get(0))),
                () -> committer.step(),
                () -> committer.accept(succeeded(runs.get(1))));
        Race.require(committer.isIdle() == (book.open() == 0), "idle while something is open");
        for (int i = 0; i < 4; i++) {
            committer.step();
        }
        Race.require(committer.isIdle() && book.open() == 0, "not all was written");
        int ended = store.find(JobQuery.all().state(JobState.SUCCEEDED)).items().size();
        Race.require(ended == 2, "ended " + ended);
        Race.require(
                store.takeOver("other", LONG, 10).isEmpty() && book.leases().isEmpty(), "a lease was left");
    }

    private static RunResult succeeded(Run run) {
        return new RunResult(run, RunResult.Kind.HANDLED, Duration.ZERO, null, null);
    }

    /** Neither is used: nothing runs here. */
    private static final class NoExecutor implements HandlerExecutor {
        @Override
        public void execute(Runnable work) {
            throw new AssertionError("nothing runs here");
        }

        @Override
        public void close() {}
    }

    private static final class NoCodec implements PayloadCodec {
        @Override
        public String encode(Object value) {
            throw new AssertionError("nothing is written here");
        }

        @Override
        public <T> T decode(String json, Class<T> type) {
            throw new AssertionError("nothing is read here");
        }
    }

    private static JobSpec refused(JobRequest<?> request) {
        throw new IllegalStateException("nothing is enqueued here, not even " + request.type());
    }

    private static Committer committer(InMemoryJobStore store, LeaseBook book, AtomicInteger freed) {
        StoreClock clock = new StoreClock(new Still(), Instant.EPOCH);
        LiveSettings live = LiveSettings.fixed(FleetSettings.NONE);
        LocalControl control = new LocalControl(
                new ControlConfig(ControlSettings.DEFAULT, List.of(), live), clock, () -> {}, () -> {});
        Events events = new Events(List.of(), new EventRelay(store, "w"));
        EngineParts parts = new EngineParts(
                store,
                SETTINGS,
                new Handlers(),
                new Interceptors(List.of()),
                new NoCodec(),
                new Still(),
                new NoExecutor(),
                clock,
                events,
                new FollowUps(List.of(), CommitterRaceTest::refused, events),
                new HandlerEnqueuer(),
                new RunTotals(),
                control,
                new UnhandledTypes(store, new Still(), List.of()),
                live,
                new SplittableRandom(1));
        PolicyLayers policies = new PolicyLayers(List.of(), List.of(), RetryPolicy.unset(), false, live);
        OutcomeDecider decider = new OutcomeDecider(policies, parts, new PredictionTable(), true);
        return new Committer(parts, book, new Settler(parts, decider, due -> {}), freed::incrementAndGet);
    }

    @Test
    void every_outcome_is_written_once() {
        Race.inSomeOrders(CommitterRaceTest::race);
    }
}
