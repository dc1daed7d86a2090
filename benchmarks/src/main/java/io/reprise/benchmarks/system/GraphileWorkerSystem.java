// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.system;

import com.zaxxer.hikari.HikariDataSource;
import io.reprise.benchmarks.measure.Payloads;
import io.reprise.benchmarks.measure.StoreKind;
import io.reprise.benchmarks.measure.Target;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * graphile-worker, which runs on Node.js, with the settings its documentation gives for high throughput. The package is
 * installed by npm when it is first needed. Its worker is a process of its own that tells which jobs it ran; jobs are
 * added by its SQL functions.
 */
final class GraphileWorkerSystem implements QueueSystem {

    private static final String VERSION = "0.17.3";
    private static final String SCRIPT = "graphile-worker.mjs";
    private static final String READY = "ready";
    private static final Duration INSTALL_LIMIT = Duration.ofMinutes(3);
    private static final int CHUNK = 10_000;

    /** Workloads that its handlers can run. They are not Java. */
    private static final Set<String> WORKLOADS = Set.of("W1", "W1b", "W2", "W3", "W5");

    private static final String ADD_ONE = "select graphile_worker.add_job('work', json_build_object('text', ?::text))";

    private static final String ADD_MANY = """
            select count(*)
              from graphile_worker.add_jobs((
                select array_agg(('work', json_build_object('text', p.text), null, now() + ?::interval, null, null, null, null)
                                   ::graphile_worker.job_spec)
                  from unnest(?::text[]) as p (text)))
            """;

    /** Why it cannot be installed; empty if it can. */
    private static @Nullable String trouble;

    @Override
    public String name() {
        return "graphile-worker";
    }

    @Override
    public @Nullable String cannot(String workload, StoreKind store) {
        if (store != StoreKind.POSTGRESQL) {
            return "is for PostgreSQL only";
        }
        if (workload.equals("W4")) {
            return "retries after 2.7 s at the soonest";
        }
        if (workload.equals("W6")) {
            return "keeps no finished jobs";
        }
        if (!WORKLOADS.contains(workload)) {
            return "its handlers run on Node.js";
        }
        String why = trouble();
        return why.isEmpty() ? null : why;
    }

    private static synchronized String trouble() {
        if (trouble == null) {
            trouble = fetch();
        }
        return trouble;
    }

    private static String fetch() {
        try {
            Path directory = directory();
            Files.createDirectories(directory);
            try (InputStream script = GraphileWorkerSystem.class.getResourceAsStream(SCRIPT)) {
                if (script == null) {
                    return SCRIPT + " is missing";
                }
                Files.copy(script, directory.resolve(SCRIPT), StandardCopyOption.REPLACE_EXISTING);
            }
            Path installed = directory.resolve("installed-" + VERSION);
            if (!Files.exists(installed)) {
                Files.writeString(directory.resolve("package.json"), "{\"private\":true}\n");
                run(directory, "npm", "install", "--no-audit", "--no-fund", "graphile-worker@" + VERSION);
                Files.createFile(installed);
            }
            run(directory, "node", "--version");
            return "";
        } catch (IOException | IllegalStateException e) {
            return "cannot be installed: " + e.getMessage();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "cannot be installed: interrupted";
        }
    }

    /** Among what is built. */
    private static Path directory() {
        try {
            Path place = Path.of(GraphileWorkerSystem.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            while (place.getParent() != null && !place.endsWith("target")) {
                place = place.getParent();
            }
            Path target = place.endsWith("target") ? place : Path.of(System.getProperty("java.io.tmpdir"));
            return target.resolve("graphile-worker");
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void run(Path directory, String... command) throws IOException, InterruptedException {
        Path output = directory.resolve(command[0] + ".log");
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(INSTALL_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IllegalStateException(command[0] + " took longer than " + INSTALL_LIMIT.toMinutes() + " minutes");
        }
        if (process.exitValue() != 0) {
            throw new IllegalStateException(
                    command[0] + " ended with " + process.exitValue() + "; see " + output.getFileName());
        }
    }

    @Override
    public void install(Target target) throws IOException, InterruptedException {
        run(directory(), "node", SCRIPT, url(target), "install");
    }

    private static String url(Target target) {
        return target.jdbcUrl().substring("jdbc:".length());
    }

    @Override
    public Installation open(Target target) {
        return new Opened(target);
    }

    private static final class Opened implements Installation {

        private final Target target;
        private final HikariDataSource source;
        private @Nullable Process worker;
        private Duration before = Duration.ZERO;

        Opened(Target target) {
            this.target = target;
            this.source = Pools.open(target, 8, "");
        }

        @Override
        public void enqueue(String payload) throws SQLException {
            try (Connection connection = source.getConnection();
                    PreparedStatement statement = connection.prepareStatement(ADD_ONE)) {
                statement.setString(1, payload);
                statement.execute();
            }
        }

        @Override
        public void enqueueAll(List<String> payloads) throws SQLException {
            add(payloads, "0 s");
        }

        @Override
        public void fillScheduled(int jobs) throws SQLException {
            for (int from = 0; from < jobs; from += CHUNK) {
                add(Payloads.range(from, Math.min(jobs, from + CHUNK)), "1 day");
            }
        }

        private void add(List<String> payloads, String delay) throws SQLException {
            try (Connection connection = source.getConnection();
                    PreparedStatement statement = connection.prepareStatement(ADD_MANY)) {
                statement.setString(1, delay);
                statement.setArray(2, connection.createArrayOf("text", payloads.toArray()));
                statement.execute();
            }
        }

        @Override
        public void start(Handler handler) throws IOException {
            Process process = new ProcessBuilder("node", SCRIPT, url(target), "work")
                    .directory(directory().toFile())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            worker = process;
            BufferedReader output = process.inputReader();
            String first = output.readLine();
            while (first != null && !first.equals(READY)) {
                // Jobs may run before it says that it is ready.
                run(handler, first);
                first = output.readLine();
            }
            if (first == null) {
                throw new IllegalStateException("the worker did not start");
            }
            before = used(process);
            Thread thread = new Thread(() -> relay(output, handler), "graphile-worker");
            thread.setDaemon(true);
            thread.start();
        }

        private static void relay(BufferedReader output, Handler handler) {
            try {
                for (String line = output.readLine(); line != null; line = output.readLine()) {
                    run(handler, line);
                }
            } catch (IOException e) {
                throw new UncheckedIOException("the worker's output broke off", e);
            }
        }

        private static void run(Handler handler, String line) {
            for (String number : line.split(" ", -1)) {
                try {
                    handler.run(Payloads.of(Integer.parseInt(number)));
                } catch (Exception e) {
                    throw new IllegalStateException("what failed here has succeeded there", e);
                }
            }
        }

        @Override
        public Duration workerCpu() {
            Process process = worker;
            return process == null ? Duration.ZERO : used(process).minus(before);
        }

        private static Duration used(Process process) {
            return process.toHandle().info().totalCpuDuration().orElse(Duration.ZERO);
        }

        @Override
        public boolean isSettled() throws SQLException {
            return left() == 0;
        }

        @Override
        public long left() throws SQLException {
            return target.number("select count(*) from graphile_worker.jobs where run_at <= now()");
        }

        @Override
        public void close() {
            source.close();
            Process process = worker;
            if (process != null) {
                process.destroy();
                process.onExit().join();
            }
        }
    }
}
