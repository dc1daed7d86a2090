// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.Processes;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.measure.WallClock;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.QueueSystem;
import io.reprise.benchmarks.system.Systems;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** A worker in its own process, which answers each line of input with the count of its runs. */
final class WorkerProcess implements AutoCloseable {

    private static final String RESET = "reset";
    private static final String COUNT = "count";

    /**
     * The runs of workers.
     *
     * @param sum sum of the numbers of the jobs
     * @param first first start of a job, and {@code last} end of one, in microseconds since 1970
     */
    record Count(long runs, long sum, long first, long last) {

        static final Count NONE = new Count(0, 0, Long.MAX_VALUE, Long.MIN_VALUE);

        Count plus(Count other) {
            return new Count(
                    runs + other.runs, sum + other.sum, Math.min(first, other.first), Math.max(last, other.last));
        }

        @Override
        public String toString() {
            return runs + " " + sum + " " + first + " " + last;
        }

        static Count parse(String line) {
            String[] parts = line.split(" ", -1);
            return new Count(
                    Long.parseLong(parts[0]),
                    Long.parseLong(parts[1]),
                    Long.parseLong(parts[2]),
                    Long.parseLong(parts[3]));
        }
    }

    private final Process process;
    private final BufferedReader output;
    private final BufferedWriter input;

    WorkerProcess(QueueSystem system, Target target, long jobNanos) throws IOException {
        process = Processes.start(
                List.of(),
                WorkerProcess.class,
                List.of(system.name(), target.store().toString(), target.jdbcUrl(), Long.toString(jobNanos)));
        output = process.inputReader();
        input = process.outputWriter();
    }

    void reset() throws IOException {
        ask(RESET);
    }

    Count count() throws IOException {
        return ask(COUNT);
    }

    private Count ask(String what) throws IOException {
        input.write(what + "\n");
        input.flush();
        String line = output.readLine();
        if (line == null) {
            throw new IllegalStateException("a worker process ended");
        }
        return Count.parse(line);
    }

    @Override
    public void close() throws IOException {
        input.close();
        process.onExit().join();
    }

    /** Arguments: system, store, URL, nanoseconds that a job takes. */
    public static void main(String[] args) throws Exception {
        AtomicReference<Count> count = new AtomicReference<>(Count.NONE);
        Target target = new Target(StoreKind.of(args[1]), args[2]);
        long jobNanos = Long.parseLong(args[3]);
        try (Installation installation = Systems.get(args[0]).open(target);
                BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            installation.start(payload -> {
                long start = WallClock.micros();
                if (jobNanos > 0) {
                    LockSupport.parkNanos(jobNanos);
                }
                Count one = new Count(1, Payloads.number(payload), start, WallClock.micros());
                count.accumulateAndGet(one, Count::plus);
            });
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.equals(RESET)) {
                    count.set(Count.NONE);
                }
                System.out.println(count.get());
            }
        }
        System.exit(0);
    }
}
