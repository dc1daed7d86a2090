// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.JobSpec;
import io.reprise.JobState;
import io.reprise.PayloadCodec;
import io.reprise.control.ControlSettings;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.Claim;
import io.reprise.store.ClaimRequest;
import io.reprise.store.JobQuery;
import io.reprise.testing.InMemoryJobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
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
            false,
            0.2,
            new WorkerSettings.Timing(LONG, LONG, LONG, LONG),
            new WorkerSettings.Keep(LONG, null, LONG),
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

    private static Ended succeeded(Run run) {
        return new Ended(run, Ended.Kind.HANDLED, Duration.ZERO, null, null);
    }

    /** Neither is used: nothing runs here. */
    private static final class NoBench implements Bench {
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

    private static Committer committer(InMemoryJobStore store, LeaseBook book, AtomicInteger freed) {
        StoreClock clock = new StoreClock(new Still(), Instant.EPOCH);
        Control control = new Control(new ControlRules(ControlSettings.DEFAULT, List.of()), clock, () -> {}, () -> {});
        Events events = new Events(List.of());
        EngineParts parts = new EngineParts(
                store,
                SETTINGS,
                new Handlers(),
                new NoCodec(),
                new Still(),
                new NoBench(),
                clock,
                events,
                new Outbox(
                        List.of(),
                        request -> {
                            throw new IllegalStateException("nothing follows");
                        },
                        events),
                new Tallies(),
                control,
                new UnhandledTypes(store, new Still()),
                new SplittableRandom(1));
        Policies policies = new Policies(List.of(), List.of(), RetryPolicy.unset(), false);
        Decider decider = new Decider(policies, parts, new Outlook(), true);
        return new Committer(parts, book, decider, due -> {}, freed::incrementAndGet);
    }

    @Test
    void every_outcome_is_written_once() {
        Race.inSomeOrders(CommitterRaceTest::race);
    }
}
