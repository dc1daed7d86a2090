// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.base.ExitCode;
import io.reprise.cli.terminal.Terminal;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedReader;
import java.io.PipedWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Starts the server on a store in a directory, uses it a little and stops. The launcher uses it to let the JVM archive
 * all classes that a start needs, so that later starts are quicker.
 */
final class Rehearsal {

    private static final String URL = "Reprise listens on ";

    private Rehearsal() {}

    /** Takes one argument: an empty directory. */
    public static void main(String[] args) throws IOException {
        PipedReader lines = new PipedReader();
        PrintWriter out = new PrintWriter(new PipedWriter(lines), true);
        String store = "sqlite:" + Path.of(args[0], "jobs.db");
        Thread server = new Thread(() -> Main.run(terminal(out), "serve", "--store-url", store, "--http-port", "0"));
        server.setDaemon(true);
        server.start();
        int code = use(new BufferedReader(lines));
        // Ends the server too, as a signal would.
        System.exit(code);
    }

    private static int use(BufferedReader output) throws IOException {
        String key = "";
        String line = output.readLine();
        while (line != null && !line.startsWith(URL)) {
            key = line.isBlank() ? key : line.strip();
            line = output.readLine();
        }
        if (line == null) {
            return ExitCode.INTERNAL;
        }
        String[] server = {"--server", line.substring(URL.length()), "--key", key};
        int code = command("jobs enqueue rehearsal", server);
        return code == ExitCode.OK ? command("jobs list", server) : code;
    }

    private static int command(String command, String... more) {
        String[] words = command.split(" ", -1);
        String[] all = new String[words.length + more.length];
        System.arraycopy(words, 0, all, 0, words.length);
        System.arraycopy(more, 0, all, words.length, more.length);
        return Main.run(terminal(new PrintWriter(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)), all);
    }

    private static Terminal terminal(PrintWriter out) {
        return new Terminal(InputStream.nullInputStream(), out, out, false, false);
    }
}
