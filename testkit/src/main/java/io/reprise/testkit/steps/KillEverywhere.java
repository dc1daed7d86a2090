// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.steps;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.store.JobStore;
import io.reprise.testkit.TestRun;
import io.reprise.testkit.faults.JavaProcess;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Kills an {@link OrderWorker} before every statement of a job of ten steps, one job and one process for each, and after the
 * last one. After a statement is before the next one: the run's statements come one after another, the effects outside
 * of its transactions included. Each effect in the job's database must be seen once, an effect outside at most
 * twice.
 */
public final class KillEverywhere {

    private static final int FEW = 8;

    /** Kills at every statement, whatever the stride of a test is. */
    private static final boolean EVERYWHERE = Boolean.getBoolean("reprise.kill.everywhere");

    /** Chooses the statements of a test with a stride. */
    private final long seed = Long.getLong("reprise.kill.seed", 0);

    private final Class<? extends OrderWorker> worker;
    private final String url;
    private final Path directory;
    private final Path archive;

    /** How often the effect of a step with a transaction may be seen. */
    private int mostInside = 1;

    /**
     * Prepares runs.
     *
     * @param worker has a {@code main} that calls {@link OrderWorker#work}
     * @param directory for logs, and for the classes of the workers: a process that need not read them again starts sooner
     */
    public KillEverywhere(Class<? extends OrderWorker> worker, String url, Path directory) {
        this.worker = worker;
        this.url = url;
        this.directory = directory;
        this.archive = directory.resolve("classes.jsa");
    }

    /** The database has no transactions: every effect is outside of its step. */
    public KillEverywhere withoutTransactions() {
        mostInside = 2;
        return this;
    }

    /**
     * Kills workers before every statement, or before a few of them in a quick run, and checks what is left.
     *
     * @param stride 1 for every statement; n for every n-th, from a place that {@code reprise.kill.seed} chooses. Each
     *     statement costs a process, so only some databases have all in one run. {@code -Dreprise.kill.everywhere=true}
     *     sets it to 1
     * @param effects returns the names of the steps of a job, as often as they had their effect
     */
    public void run(JobStore store, int stride, Function<JobId, List<String>> effects) {
        try (Reprise reprise =
                Reprise.builder().store(store).codec(OrderWorker.CODEC).start()) {
            List<String> options = List.of("-cp", jars(), "-XX:SharedArchiveFile=" + archive, "-Xshare:auto");
            int statements = statements(reprise);
            assertThat(statements).isGreaterThan(3 * OrderWorker.STEPS);
            List<JobId> jobs = new ArrayList<>();
            for (int statement : statements(statements, EVERYWHERE ? 1 : stride)) {
                jobs.add(kill(reprise, options, statement));
            }
            System.out.printf("%d workers were killed, of a run with %d statements%n", jobs.size(), statements);
            try (JavaProcess finisher = JavaProcess.start(options, worker, log("finisher"), url, "", "0")) {
                for (JobId id : jobs) {
                    Job job = reprise.await(id, Duration.ofMinutes(10)).job();
                    assertThat(job.state())
                            .as("%s, seed %s: %s", job, seed, finisher.logTail())
                            .isEqualTo(JobState.SUCCEEDED);
                    assertThat(job.status().result()).isEqualTo("0123456789");
                    check(id, effects.apply(id));
                }
            }
        }
    }

    /** Returns the statements before which a worker is killed, the last one always among them. */
    private List<Integer> statements(int all, int stride) {
        if (!TestRun.isAll()) {
            int points = Math.min(FEW, all);
            return IntStream.rangeClosed(1, points)
                    .map(i -> (int) ((long) i * all / points))
                    .boxed()
                    .toList();
        }
        long first = Math.floorMod(seed, (long) stride);
        return IntStream.rangeClosed(1, all)
                .filter(i -> i % stride == first || i == all)
                .boxed()
                .toList();
    }

    /** Runs one job to its end, which also writes the archive of classes. Returns how many statements its run has. */
    private int statements(Reprise reprise) {
        JobId id = reprise.enqueue(OrderWorker.ORDER.job("whole").queue("whole"));
        List<String> options = List.of("-cp", jars(), "-Xlog:disable", "-XX:ArchiveClassesAtExit=" + archive);
        try (JavaProcess process = JavaProcess.start(options, worker, log("whole"), url, "whole", "0", id.toString())) {
            awaitEnd(process);
            assertThat(reprise.find(id).orElseThrow().state())
                    .as(process.logTail())
                    .isEqualTo(JobState.SUCCEEDED);
            return Files.readString(log("whole"))
                    .lines()
                    .filter(line -> line.startsWith(OrderWorker.STATEMENTS))
                    .mapToInt(line -> Integer.parseInt(line.substring(OrderWorker.STATEMENTS.length())))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(process.logTail()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private JobId kill(Reprise reprise, List<String> options, int statement) {
        String queue = "before-" + statement;
        JobId id = reprise.enqueue(OrderWorker.ORDER.job(queue).queue(queue));
        try (JavaProcess process = JavaProcess.start(
                options, worker, log(queue), url, queue, Integer.toString(statement), id.toString())) {
            awaitEnd(process);
        }
        return id;
    }

    private Path log(String name) {
        return directory.resolve(name + ".log");
    }

    private static void awaitEnd(JavaProcess process) {
        for (int looks = 0; process.isAlive(); looks++) {
            assertThat(looks).as(process.logTail()).isLessThan(60_000);
            LockSupport.parkNanos(5_000_000);
        }
    }

    private void check(JobId id, List<String> seen) {
        Map<String, Integer> effects = new HashMap<>();
        seen.forEach(step -> effects.merge(step, 1, Integer::sum));
        for (int i = 0; i < OrderWorker.STEPS; i++) {
            assertThat(effects.getOrDefault("s" + i, 0))
                    .as("effects of step %s of job %s, seed %s", i, id, seed)
                    .isBetween(1, i % 2 == 0 ? mostInside : 2);
        }
        assertThat(seen.size() - OrderWorker.STEPS)
                .as("repeated effects of job %s", id)
                .isLessThanOrEqualTo(1);
    }

    /** Returns the class path with jars in place of directories, because an archive of classes knows only jars. */
    private String jars() {
        List<String> path = new ArrayList<>();
        String all = Objects.requireNonNull(System.getProperty("java.class.path"));
        for (String entry : all.split(File.pathSeparator, -1)) {
            Path place = Path.of(entry);
            path.add(Files.isDirectory(place) ? jar(place, path.size()).toString() : entry);
        }
        return String.join(File.pathSeparator, path);
    }

    private Path jar(Path classes, int number) {
        Path jar = directory.resolve("classes-" + number + ".jar");
        if (Files.exists(jar)) {
            return jar;
        }
        try (Stream<Path> files = Files.walk(classes);
                ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(jar))) {
            zip.setLevel(0);
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                zip.putNextEntry(
                        new ZipEntry(classes.relativize(file).toString().replace(File.separatorChar, '/')));
                Files.copy(file, zip);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return jar;
    }
}
