// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.history.HistoryChecker;
import io.reprise.history.HistoryEvent;
import io.reprise.history.HistoryLog;
import io.reprise.history.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Records all events in order, and checks them as they happen. */
final class ChaosLog implements HistoryLog {

    private static final Set<HistoryEvent.Kind> CHANGES_NOTHING = Set.of(
            HistoryEvent.Kind.OFFERED,
            HistoryEvent.Kind.REFUSED,
            HistoryEvent.Kind.TOLD,
            HistoryEvent.Kind.STARTED,
            HistoryEvent.Kind.STEPPED,
            HistoryEvent.Kind.ENDED);

    private final Timeline timeline;
    private final HistoryChecker checker;
    private final List<Line> lines = new ArrayList<>();
    private final Set<Long> touched = new TreeSet<>();
    private long last;

    /**
     * One line of the trace.
     *
     * @param job 0 if it is not about one job
     */
    record Line(long nanos, long job, Object text) {

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%10.4f %s", nanos / 1e9, text);
        }
    }

    ChaosLog(Timeline timeline, Duration deadlineSlack) {
        this.timeline = timeline;
        this.checker = new HistoryChecker(deadlineSlack);
    }

    /**
     * Returns virtual time, at least a nanosecond later with each call, so that the order of
     * events at one time is visible.
     */
    @Override
    public long nanos() {
        last = Math.max(last + 1, timeline.nanos());
        return last;
    }

    @Override
    public void add(HistoryEvent event) {
        if (event.kind() != HistoryEvent.Kind.ROW) {
            lines.add(new Line(timeline.nanos(), event.job(), event));
            if (event.job() != 0 && !CHANGES_NOTHING.contains(event.kind())) {
                touched.add(event.job());
            }
        }
        checker.accept(event);
    }

    void note(String text) {
        lines.add(new Line(timeline.nanos(), 0, text));
    }

    /** Returns the jobs that were changed since the last call. */
    List<Long> touched() {
        List<Long> jobs = List.copyOf(touched);
        touched.clear();
        return jobs;
    }

    HistoryChecker checker() {
        return checker;
    }

    List<Violation> violations() {
        return checker.violations();
    }

    List<Line> lines() {
        return lines;
    }
}
