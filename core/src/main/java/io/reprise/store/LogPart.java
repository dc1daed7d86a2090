// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.insight.LogLine;
import io.reprise.job.JobId;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * Some lines of one run, for a store.
 *
 * @param part number of the part among those of the run, from 0. A part that is written again replaces the one before
 * @since 0.1.0
 */
public record LogPart(JobId job, long token, int part, List<LogLine> lines) {

    /** Copies the list. */
    public LogPart {
        lines = List.copyOf(lines);
    }

    /** Returns the lines as text, each behind its time in microseconds. */
    public String toText() {
        StringBuilder text = new StringBuilder();
        for (LogLine line : lines) {
            text.append(ChronoUnit.MICROS.between(Instant.EPOCH, line.at()))
                    .append(' ')
                    .append(line.text())
                    .append('\n');
        }
        return text.toString();
    }

    /** Reads the text of {@link #toText}. Lines that cannot be read are left out. */
    public static List<LogLine> parse(long token, String text) {
        List<LogLine> lines = new ArrayList<>();
        for (String line : text.split("\n", -1)) {
            int cut = line.indexOf(' ');
            if (cut > 0 && line.substring(0, cut).chars().allMatch(Character::isDigit)) {
                Instant at = Instant.EPOCH.plus(Long.parseLong(line.substring(0, cut)), ChronoUnit.MICROS);
                lines.add(new LogLine(token, at, line.substring(cut + 1)));
            }
        }
        return lines;
    }
}
