// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.history.HistoryEvent.Kind;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A worker that is frozen with jobs under way until another has taken them over, and then goes on as if nothing had been. */
public final class Overtaken {

    private static final int JOBS = 4;

    /** One run of a job: a worker that stood still by itself may have lost a job and begun it again. */
    private record Run(long job, long token) {}

    private Overtaken() {}

    /** Freezes a worker by {@code freeze}, drains and checks: nothing it did with what it had lost was accepted. */
    public static void in(Fleet fleet, Consumer<Fleet.Worker> freeze, String what) {
        for (int i = 0; i < JOBS; i++) {
            fleet.load().insist(Work.HELD);
        }
        Fleet.Worker frozen = fleet.startWorker();
        fleet.until("jobs to run", () -> started(frozen) == JOBS);
        freeze.accept(frozen);
        Fleet.Worker heir = fleet.startWorker();
        fleet.until("the heir to run them", () -> started(heir) == JOBS);
        Set<Run> lost = runs(frozen, Kind.STARTED);
        lost.removeAll(runs(frozen, Kind.ACCEPTED));
        fleet.release();
        frozen.process().resume();
        fleet.until("the frozen one to end them", () -> runs(frozen, Kind.ENDED).containsAll(lost));
        fleet.awaitDone();
        // The frozen one has come to itself: with the other dead, it does the work.
        heir.process().kill();
        long before = frozen.count(Kind.ACCEPTED);
        fleet.until("more work", () -> fleet.load().enqueue(Work.mixtureWithoutTransactions()));
        frozen.await(Kind.ACCEPTED, before + 20);
        fleet.drainAndCheck(what);
        assertThat(lost).isNotEmpty();
        assertThat(runs(frozen, Kind.ACCEPTED)).doesNotContainAnyElementsOf(lost);
    }

    private static long started(Fleet.Worker worker) {
        return runs(worker, Kind.STARTED).stream().map(Run::job).distinct().count();
    }

    private static Set<Run> runs(Fleet.Worker worker, Kind kind) {
        return worker.events().stream()
                .filter(event -> event.kind() == kind)
                .map(event -> new Run(event.job(), event.token()))
                .collect(Collectors.toSet());
    }
}
