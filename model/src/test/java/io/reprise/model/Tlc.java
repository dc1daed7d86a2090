// SPDX-License-Identifier: Apache-2.0
package io.reprise.model;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The model checker, in a process of its own: it keeps its state in statics, so one Java runs it once. */
final class Tlc {

    private static final Duration LIMIT = Duration.ofMinutes(Long.getLong("reprise.model.minutes", 10));
    private static final Pattern VIOLATED = Pattern.compile(
            "Error: (?:Invariant|Action property) (\\w+) is violated|Error: (Temporal) properties were");
    private static final Pattern STATES = Pattern.compile("([\\d,]+) states generated, ([\\d,]+) distinct states");

    /**
     * What TLC found.
     *
     * @param violated name of what does not hold, "Temporal" for a liveness property; null if all of it does
     * @param distinct how many states there are, or were seen until the violation
     */
    record Verdict(@Nullable String violated, long distinct, String output) {}

    private Tlc() {}

    /** Checks a specification, all of it unless something is violated, in {@code directory}. */
    static Verdict check(Path specification, String configuration, Path directory) throws Exception {
        Files.copy(specification, directory.resolve(specification.getFileName()));
        String name = specification.getFileName().toString().replace(".tla", "");
        Files.writeString(directory.resolve(name + ".cfg"), configuration);
        Path output = directory.resolve("output.txt");
        Process process = new ProcessBuilder(command(name, directory))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("TLC did not end within " + LIMIT + ":\n" + read(output));
            }
        } finally {
            process.destroyForcibly();
        }
        return verdict(read(output));
    }

    private static List<String> command(String name, Path directory) throws ReflectiveOperationException {
        // The jar from the class path, without the test's own classes; nothing is initialised by looking it up.
        Class<?> main = Class.forName("tlc2.TLC", false, Tlc.class.getClassLoader());
        String jar = main.getProtectionDomain().getCodeSource().getLocation().getPath();
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        // TLC unpacks its own modules into the temporary directory: two processes that share one read half a file.
        // Without -deadlock TLC would call it an error that everything has ended.
        return List.of(
                java,
                "-XX:+UseParallelGC",
                "-Xmx1g",
                "-Djava.io.tmpdir=" + directory,
                "-cp",
                jar,
                "tlc2.TLC",
                "-deadlock",
                "-workers",
                "2",
                name);
    }

    private static String read(Path output) throws IOException {
        return Files.readString(output, StandardCharsets.UTF_8);
    }

    private static Verdict verdict(String output) {
        Matcher states = STATES.matcher(output);
        long distinct = 0;
        while (states.find()) {
            distinct = Long.parseLong(states.group(2).replace(",", ""));
        }
        Matcher violated = VIOLATED.matcher(output);
        if (violated.find()) {
            return new Verdict(violated.group(1) == null ? violated.group(2) : violated.group(1), distinct, output);
        }
        if (!output.contains("Model checking completed. No error has been found.")) {
            throw new AssertionError("TLC could not check the model:\n" + output);
        }
        return new Verdict(null, distinct, output);
    }
}
