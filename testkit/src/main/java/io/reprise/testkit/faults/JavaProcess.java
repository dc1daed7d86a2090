// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A program in its own JVM, on the class path of this one, which can be killed and paused. Its output goes to a file.
 * Closing kills it. Thread-safe.
 */
public final class JavaProcess implements AutoCloseable {

    private static final int LOG_LINES = 40;
    private static final int SIGNAL_SECONDS = 120;
    private static final int END_SECONDS = 300;

    private final Process process;
    private final Path log;

    private JavaProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts a small and quick JVM, because the process does not live long. */
    public static JavaProcess start(Class<?> main, Path log, String... args) {
        return start(List.of("-cp", System.getProperty("java.class.path")), main, log, args);
    }

    /** Starts it with further options, which include the class path. */
    public static JavaProcess start(List<String> options, Class<?> main, Path log, String... args) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-Xmx96m",
                // A killed process cannot delete the library that it unpacked, so the library is
                // where the test cleans up.
                "-Djava.io.tmpdir=" + log.toAbsolutePath().getParent()));
        command.addAll(options);
        command.add(main.getName());
        command.addAll(List.of(args));
        try {
            File file = log.toFile();
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(file))
                    .start();
            return new JavaProcess(process, log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the exit code of a process that has ended. */
    public int exitCode() {
        return process.exitValue();
    }

    /** Ends it as {@code kill -9} does: no shutdown hook runs. Returns when it is gone. */
    public void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    /** Asks it to end as {@code kill} does, and returns when it has ended. Shutdown hooks run. */
    public void terminate() {
        process.destroy();
        awaitEnd();
    }

    /** Freezes it, as a long garbage collection or a suspended machine does. */
    public void pause() {
        signal("-STOP");
    }

    public void resume() {
        signal("-CONT");
    }

    /** Returns the end of its output. */
    public String logTail() {
        try {
            List<String> lines = Files.readAllLines(log);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
        } catch (IOException e) {
            return "(no log: " + e.getMessage() + ")";
        }
    }

    @Override
    public void close() {
        kill();
    }

    private void signal(String signal) {
        try {
            Process kill = new ProcessBuilder("kill", signal, Long.toString(pid())).start();
            if (!kill.waitFor(SIGNAL_SECONDS, TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw new IllegalStateException("kill " + signal + " " + pid() + " did not work");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private void awaitEnd() {
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("process " + pid() + " does not end:\n" + logTail());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
