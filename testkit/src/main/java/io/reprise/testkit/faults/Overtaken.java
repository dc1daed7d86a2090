// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.testkit.history.HistoryEvent;
import io.reprise.testkit.history.HistoryEvent.Kind;
import java.util.List;
import java.util.function.Consumer;

/** A worker that is frozen with jobs under way until another has taken them over, and then goes on as if nothing had been. */
public final class Overtaken {

    private static final int JOBS = 4;

    private Overtaken() {}

    /** Freezes a worker by {@code freeze}, drains and checks: nothing it did with what it had lost was accepted. */
    public static void in(Fleet fleet, Consumer<Fleet.Worker> freeze, String what) {
        fleet.load().enqueue(Work.HELD, JOBS);
        Fleet.Worker frozen = fleet.startWorker();
        fleet.until("jobs to run", () -> frozen.count(Kind.STARTED) == JOBS);
        freeze.accept(frozen);
        Fleet.Worker heir = fleet.startWorker();
        fleet.until("the heir to run them", () -> heir.count(Kind.STARTED) == JOBS);
        fleet.release();
        frozen.process().resume();
        fleet.until("both to end them", () -> frozen.count(Kind.ENDED) == JOBS && heir.count(Kind.ENDED) == JOBS);
        fleet.until("the outcomes of the heir", () -> succeeded(heir) == JOBS);
        // The frozen one has come to itself: with the other dead, it does the work.
        heir.process().kill();
        fleet.load().enqueue(Work.mixtureWithoutTransactions());
        frozen.awaitMore(Kind.ACCEPTED, 20);
        fleet.drainAndCheck(what);
        List<Long> tokens = frozen.events().stream()
                .filter(event -> event.kind() == Kind.STARTED)
                .limit(JOBS)
                .map(HistoryEvent::token)
                .toList();
        assertThat(frozen.events())
                .filteredOn(event -> event.kind() == Kind.ACCEPTED)
                .noneMatch(event -> tokens.contains(event.token()));
    }

    private static long succeeded(Fleet.Worker worker) {
        return worker.events().stream()
                .filter(event -> event.kind() == Kind.ACCEPTED && "Succeed".equals(event.detail("next")))
                .count();
    }
}
