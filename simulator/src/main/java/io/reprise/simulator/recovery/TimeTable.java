// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.recovery;

import java.util.Locale;

/** Shows the events of a world as text, one line per second. */
final class TimeTable {

    private static final int MOST_LINES = 400;

    private TimeTable() {}

    static String of(RecoveryPlan plan, Course course) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "%7s %8s %8s %8s %7s %9s %9s %9s %9s %-9s %9s %s%n",
                "s",
                "arrived",
                "calls/s",
                "good/s",
                "failed",
                "throttled",
                "parked",
                "to do",
                "possible",
                "phase",
                "rate",
                "why"));
        int lines = 0;
        String before = "";
        for (int second = 0; second < course.length() && lines < MOST_LINES; second++) {
            Course.Second now = course.at(second);
            String line = line(now);
            // In the middle of a long trouble nothing changes.
            if (!line.equals(before) && !(Double.isNaN(now.sustained) && now.calls == 0 && plan.storm() == null)) {
                text.append(String.format(Locale.ROOT, "%6d%s %s%n", second, mark(plan, second), line));
                lines++;
            }
            before = line;
        }
        return text.toString();
    }

    private static String mark(RecoveryPlan plan, int second) {
        return plan.storm() == null && second >= plan.begin() && second < plan.end() ? "!" : " ";
    }

    private static String line(Course.Second now) {
        return String.format(
                Locale.ROOT,
                "%8d %8d %8d %7d %9d %9d %9d %9.1f %-9s %9.1f %s",
                now.arrived,
                now.calls,
                now.good,
                now.failed,
                now.throttled,
                now.parked,
                now.available,
                now.sustained,
                now.phase,
                now.limit,
                now.why);
    }
}
