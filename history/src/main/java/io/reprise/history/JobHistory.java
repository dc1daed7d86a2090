// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Events in the order in which they ended. Thread-safe. */
public final class JobHistory implements HistoryLog {

    private final List<HistoryEvent> events = new ArrayList<>();

    /** Creates an empty history. */
    public JobHistory() {}

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public synchronized void add(HistoryEvent event) {
        events.add(event);
    }

    /** Returns the events so far. */
    public synchronized List<HistoryEvent> events() {
        List<HistoryEvent> sorted = new ArrayList<>(events);
        sorted.sort(Comparator.comparingLong(HistoryEvent::until).thenComparingLong(HistoryEvent::from));
        return sorted;
    }

    /**
     * Reads the files of several processes. A last line without an end was cut off when the
     * process ended; it is left out.
     */
    public static JobHistory read(Collection<Path> files) {
        JobHistory history = new JobHistory();
        for (Path file : files) {
            String text;
            try {
                text = Files.readString(file, StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            int begin = 0;
            int end = text.indexOf('\n');
            while (end >= 0) {
                history.add(HistoryEvent.parse(text.substring(begin, end)));
                begin = end + 1;
                end = text.indexOf('\n', begin);
            }
        }
        return history;
    }
}
