// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli;

import io.reprise.cli.terminal.JsonOutput;
import io.reprise.cli.terminal.Terminal;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import tools.jackson.databind.JsonNode;

/** The program as a user runs it, without the process around it. */
public record Cli(int code, String out, String err) {

    public static Cli run(String... args) {
        return runWith("", args);
    }

    public static Cli runWith(String input, String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Terminal terminal = new Terminal(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                false,
                false);
        int code = Main.run(terminal, args);
        return new Cli(code, out.toString(), err.toString());
    }

    /** One command line, cut at spaces. */
    public static Cli line(String commandLine) {
        return run(commandLine.trim().split("\\s+", -1));
    }

    public JsonNode json() {
        return JsonOutput.mapper().readTree(out);
    }
}
