// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.insight.LogLine;
import io.reprise.job.JobId;
import io.reprise.store.LogPart;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The log lines of one run. The handler adds lines; the {@link LeaseKeeper} and the settler write those that are new. A
 * part that is not full is written again with more lines, so that a run has few parts. Thread-safe.
 */
public final class RunLog {

    /** The last line of a run that wrote more. */
    static final String MORE = "… more lines of this run are not kept";

    private static final int FULL_PART = 8 * 1024;

    private List<LogLine> lines = new ArrayList<>(0);
    private int part;
    private int count;
    private int chars;
    private int partChars;
    private int unwritten;

    RunLog() {}

    /**
     * Creates the log of a run that has written lines before.
     *
     * @param from how many lines
     * @param chars how many characters
     */
    RunLog(int from, int chars) {
        this.part = from;
        this.count = from;
        this.chars = chars;
    }

    /** Adds a line. Beyond the bounds it is dropped; the last line says so. */
    synchronized void add(long token, Instant at, String text) {
        if (count > LogLine.MAX_LINES) {
            return;
        }
        LogLine line = new LogLine(token, at, text);
        if (count == LogLine.MAX_LINES || chars + line.text().length() > LogLine.MAX_CHARS) {
            line = new LogLine(token, at, MORE);
            count = LogLine.MAX_LINES;
        }
        count++;
        chars += line.text().length() + 1;
        partChars += line.text().length() + 1;
        lines.add(line);
        unwritten++;
    }

    /** Returns what is to be written; null if nothing is new. */
    public synchronized @Nullable LogPart unwritten(JobId job, long token) {
        return unwritten == 0 ? null : new LogPart(job, token, part, lines);
    }

    /** Notes that a part was written. */
    public synchronized void written(LogPart done) {
        if (done.part() != part) {
            return;
        }
        unwritten = lines.size() - done.lines().size();
        if (unwritten == 0 && partChars > FULL_PART) {
            part++;
            partChars = 0;
            lines = new ArrayList<>(0);
        }
    }
}
