// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.history.HistoryEvent.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** A worker is frozen with running jobs until another worker has taken them over. Then it goes on. */
public final class Overtaken {

    private static final int JOBS = 4;

    /** One run of a job. A worker that stood still may have lost a job and begun it again. */
    private record Run(long job, long token) {}

    private Overtaken() {}

    /** Freezes a worker by {@code freeze}, drains and checks: no outcome of its lost runs was accepted. */
    public static void in(FaultFleet fleet, Consumer<FaultFleet.Worker> freeze, String what) {
        for (int i = 0; i < JOBS; i++) {
            fleet.load().insist(Work.HELD);
        }
        FaultFleet.Worker frozen = fleet.startWorker();
        fleet.until("jobs to run", () -> started(frozen) == JOBS);
        fleet.until("a moment when it has jobs in hand", () -> {
            freeze.accept(frozen);
            if (!inHand(frozen).isEmpty()) {
                return true;
            }
            frozen.process().resume();
            return false;
        });
        Set<Run> lost = inHand(frozen);
        FaultFleet.Worker heir = fleet.startWorker();
        // Taken over, not run: a worker runs jobs that were lost twice, as on a machine that
        // stood still, one at a time.
        fleet.until("the heir to take them over", () -> isOver(lost, frozen, heir));
        fleet.release();
        frozen.process().resume();
        fleet.until("the frozen one to end them", () -> runs(frozen, Kind.ENDED).containsAll(lost));
        fleet.awaitDone();
        // The frozen worker works again: the other one is dead, so it does the work.
        heir.process().kill();
        long before = frozen.count(Kind.ENDED);
        fleet.until("more work", () -> fleet.load().enqueue(Work.mixtureWithoutTransactions()));
        fleet.drainAndCheck(what);
        assertThat(frozen.count(Kind.ENDED)).isGreaterThan(before);
        assertThat(runs(frozen, Kind.ACCEPTED)).doesNotContainAnyElementsOf(lost);
    }

    private static long started(FaultFleet.Worker worker) {
        return runs(worker, Kind.STARTED).stream().map(Run::job).distinct().count();
    }

    /** Returns runs that have begun and whose outcomes were not offered. */
    private static Set<Run> inHand(FaultFleet.Worker worker) {
        Set<Run> runs = runs(worker, Kind.STARTED);
        runs.removeAll(runs(worker, Kind.OFFERED));
        return runs;
    }

    /** Whether each of these jobs was leased again, to any of the workers. */
    private static boolean isOver(Set<Run> runs, FaultFleet.Worker... workers) {
        Map<Long, Long> latest = new HashMap<>();
        for (FaultFleet.Worker worker : workers) {
            for (Kind kind : List.of(Kind.CLAIMED, Kind.TAKEN_OVER)) {
                runs(worker, kind).forEach(run -> latest.merge(run.job, run.token, Math::max));
            }
        }
        return runs.stream().allMatch(run -> latest.getOrDefault(run.job, 0L) > run.token);
    }

    private static Set<Run> runs(FaultFleet.Worker worker, Kind kind) {
        return worker.events().stream()
                .filter(event -> event.kind() == kind)
                .map(event -> new Run(event.job(), event.token()))
                .collect(Collectors.toSet());
    }
}
