// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.fuzz;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Gives hostile inputs to a reader. An unexpected exception or a hang is a failure that shows the input. Seeded: a
 * second run finds the same. {@code -Dreprise.fuzz.times=1000} tries that many times as much,
 * {@code -Dreprise.fuzz.seed=7} other inputs.
 */
public final class Fuzz {

    private static final long SEED = Long.getLong("reprise.fuzz.seed", 1);
    private static final long TIMES = Long.getLong("reprise.fuzz.times", 1);

    /** Far more than any input takes. A reader that has not answered by then hangs. */
    private static final long PATIENCE_SECONDS = 60;

    private static final int MAX_MESSAGE = 2_000;

    private Fuzz() {}

    /** Reads an input. */
    public interface Reader<T> {
        void read(T input) throws Exception;
    }

    /** Gives texts derived from the corpus to a reader, which must accept or refuse each. */
    public static void texts(int runs, List<String> corpus, Reader<String> reader) {
        run(runs, corpus, Mutator::next, reader);
    }

    /** Gives lists of words, such as the arguments of a command, to a reader. */
    public static void words(int runs, List<String> corpus, Reader<List<String>> reader) {
        run(runs, corpus, mutator -> mutator.nextWords(" "), reader);
    }

    private static <T> void run(int runs, List<String> corpus, Function<Mutator, T> source, Reader<T> reader) {
        Mutator mutator = new Mutator(new SplittableRandom(SEED), corpus);
        AtomicReference<Object> current = new AtomicReference<>("");
        AtomicLong answered = new AtomicLong();
        for (long batch = 0; batch < TIMES; batch++) {
            FutureTask<Boolean> task = new FutureTask<>(() -> {
                for (int i = 0; i < runs; i++) {
                    T input = source.apply(mutator);
                    current.set(input);
                    reader.read(input);
                    answered.incrementAndGet();
                }
                return true;
            });
            Thread thread = new Thread(task, "fuzz");
            thread.setDaemon(true);
            thread.start();
            await(task, thread, current, answered);
        }
    }

    private static void await(
            FutureTask<Boolean> task, Thread thread, AtomicReference<Object> current, AtomicLong answered) {
        try {
            long before = -1;
            while (true) {
                try {
                    task.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                    return;
                } catch (TimeoutException e) {
                    long now = answered.get();
                    if (now == before) {
                        AssertionError hung = new AssertionError("No answer to the input " + shown(current.get()));
                        hung.setStackTrace(thread.getStackTrace());
                        throw hung;
                    }
                    before = now;
                }
            }
        } catch (ExecutionException e) {
            throw new AssertionError("Failed on the input " + shown(current.get()), e.getCause());
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /**
     * Checks that a refusal has a short message that says what is wrong.
     *
     * @throws AssertionError with the refusal as its cause, if not
     */
    public static void requireClear(RuntimeException refusal) {
        String message = refusal.getMessage();
        if (message == null || message.isBlank()) {
            throw new AssertionError("a refusal without a reason", refusal);
        }
        if (message.length() > MAX_MESSAGE) {
            throw new AssertionError("a refusal of " + message.length() + " characters", refusal);
        }
    }

    /** Returns the input as Java source, so that it can become a test. */
    private static String shown(@Nullable Object input) {
        StringBuilder shown = new StringBuilder("\"");
        String text = String.valueOf(input);
        for (int i = 0; i < Math.min(text.length(), 2 * MAX_MESSAGE); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                shown.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                shown.append(String.format("\\u%04x", (int) c));
            } else {
                shown.append(c);
            }
        }
        return shown.append(text.length() > 2 * MAX_MESSAGE ? "… (" + text.length() + " characters)" : "\"")
                .toString();
    }
}
