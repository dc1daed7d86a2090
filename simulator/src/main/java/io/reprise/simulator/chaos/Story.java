// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

import io.reprise.history.HistoryEvent;
import io.reprise.history.Violation;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The events of the jobs in a violation: their lines, those of their leases, and every fault. */
final class Story {

    private static final Pattern JOB = Pattern.compile("[Jj]obs? (\\d+)(?: and (\\d+))?");

    private final List<ChaosLog.Line> lines;
    private final Set<Long> jobs = new HashSet<>();
    private final Set<Long> tokens = new HashSet<>();

    Story(ChaosOutcome outcome) {
        lines = outcome.lines();
        outcome.violations().stream().map(Violation::sentence).forEach(this::name);
        for (ChaosLog.Line line : lines) {
            if (line.text() instanceof HistoryEvent event && jobs.contains(event.job())) {
                tokens.add(event.token());
            }
        }
        tokens.remove(0L);
    }

    private void name(String sentence) {
        Matcher found = JOB.matcher(sentence);
        while (found.find()) {
            jobs.add(Long.valueOf(found.group(1)));
            if (found.group(2) != null) {
                jobs.add(Long.valueOf(found.group(2)));
            }
        }
    }

    String text() {
        return lines.stream()
                .filter(this::belongs)
                .map(ChaosLog.Line::toString)
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private boolean belongs(ChaosLog.Line line) {
        if (jobs.isEmpty() || !(line.text() instanceof HistoryEvent event)) {
            return true;
        }
        return event.job() == 0
                ? event.token() == 0 ? event.kind() != HistoryEvent.Kind.FIRED : tokens.contains(event.token())
                : jobs.contains(event.job());
    }
}
