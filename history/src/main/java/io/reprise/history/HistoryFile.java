// SPDX-License-Identifier: Apache-2.0
package io.reprise.history;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The events of one process in its own file. They survive the process however it ends: each is handed to the operating
 * system before {@link #add} returns. The last line may be incomplete.
 */
public final class HistoryFile implements HistoryLog, AutoCloseable {

    /** Not a channel: an interrupt of a handler would close a channel for good. */
    private final OutputStream out;

    /** Opens the file and appends to it. */
    public HistoryFile(Path file) {
        try {
            out = new FileOutputStream(file.toFile(), true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public synchronized void add(HistoryEvent event) {
        try {
            out.write((event.toLine() + '\n').getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            out.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
