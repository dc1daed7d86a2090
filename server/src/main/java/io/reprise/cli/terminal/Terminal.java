// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.terminal;

import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The input and output of the program.
 *
 * @param interactive whether a person watches, so that a picture may be redrawn in place
 * @param unicode whether block characters and arrows can be shown
 */
public record Terminal(InputStream in, PrintWriter out, PrintWriter err, boolean interactive, boolean unicode) {

    public static Terminal system() {
        Charset charset = charset();
        return new Terminal(
                System.in,
                new PrintWriter(System.out, true, charset),
                new PrintWriter(System.err, true, charset),
                isInteractive(),
                charset.newEncoder().canEncode("█↻…"));
    }

    private static Charset charset() {
        // Java 19 and later report the encoding of the terminal. Before, the locale is the best guess.
        String name = System.getProperty("stdout.encoding", System.getProperty("native.encoding", "UTF-8"));
        return Charset.isSupported(name) ? Charset.forName(name) : Charset.defaultCharset();
    }

    @SuppressWarnings("SystemConsoleNull") // isTerminal() answers the rest of the question.
    private static boolean isInteractive() {
        Console console = System.console();
        return console != null && !"dumb".equals(System.getenv("TERM")) && isTerminal(console);
    }

    /**
     * From Java 22 on, a console may exist without a terminal. Only its method isTerminal, unknown to Java 17, tells.
     */
    private static boolean isTerminal(Console console) {
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException e) {
            return true;
        }
    }

    /** The number of characters that fit. */
    public record Size(int width, int height) {

        public static final Size USUAL = new Size(80, 24);

        private static final Pattern ANSWER = Pattern.compile("([1-9]\\d{0,3}) ([1-9]\\d{0,3})\\s*");

        /** Java cannot ask a terminal for its size; {@code stty} can, where it exists. */
        public static Size now() {
            try {
                Process stty = new ProcessBuilder("stty", "size")
                        .redirectInput(ProcessBuilder.Redirect.INHERIT)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
                String answer = new String(stty.getInputStream().readNBytes(100), StandardCharsets.US_ASCII);
                Matcher numbers = ANSWER.matcher(answer);
                return numbers.matches()
                        ? new Size(Integer.parseInt(numbers.group(2)), Integer.parseInt(numbers.group(1)))
                        : USUAL;
            } catch (IOException e) {
                return USUAL;
            }
        }
    }
}
