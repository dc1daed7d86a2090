// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The processes of a running PostgreSQL, for sending signals. */
final class PostgresProcesses {

    private static final int SECONDS = 120;

    private final ProcessHandle postmaster;

    private PostgresProcesses(ProcessHandle postmaster) {
        this.postmaster = postmaster;
    }

    /** Returns the processes of the server on this data directory. */
    static PostgresProcesses on(Path data) {
        try {
            long pid = Long.parseLong(
                    Files.readAllLines(data.resolve("postmaster.pid")).get(0).strip());
            return new PostgresProcesses(
                    ProcessHandle.of(pid).orElseThrow(() -> new IllegalStateException("no PostgreSQL process " + pid)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The postmaster comes first; otherwise it would see its children die and start new ones. */
    private List<ProcessHandle> all() {
        return Stream.concat(Stream.of(postmaster), postmaster.descendants()).toList();
    }

    /** Ends them at once, without a checkpoint. */
    void quit() {
        signal("-QUIT", List.of(postmaster));
        awaitEnd();
    }

    void awaitEnd() {
        postmaster.onExit().orTimeout(SECONDS, TimeUnit.SECONDS).join();
    }

    void kill() {
        // A stopped postmaster starts no further child.
        signal("-STOP", List.of(postmaster));
        List<ProcessHandle> all = all();
        all.forEach(ProcessHandle::destroyForcibly);
        CompletableFuture.allOf(all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new))
                .orTimeout(SECONDS, TimeUnit.SECONDS)
                .join();
    }

    void pause() {
        // A stopped postmaster starts no further child.
        signal("-STOP", List.of(postmaster));
        signal("-STOP", all());
    }

    void resume() {
        signal("-CONT", all());
    }

    private static void signal(String signal, List<ProcessHandle> processes) {
        List<String> command = new ArrayList<>(List.of("kill", signal));
        processes.forEach(process -> command.add(Long.toString(process.pid())));
        try {
            // The exit code does not matter: a process may have ended in between.
            if (!new ProcessBuilder(command).start().waitFor(SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException(command + " does not end");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
