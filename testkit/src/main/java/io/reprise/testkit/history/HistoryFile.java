// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.history;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The events of one process in a file of its own, which outlive it however it ends: each is handed to the operating
 * system before {@link #add} returns. The last line may be half a one.
 */
public final class HistoryFile implements HistoryLog, AutoCloseable {

    private final FileChannel channel;

    public HistoryFile(Path file) {
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
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
        ByteBuffer line = StandardCharsets.UTF_8.encode(event.toLine() + '\n');
        try {
            while (line.hasRemaining()) {
                channel.write(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
