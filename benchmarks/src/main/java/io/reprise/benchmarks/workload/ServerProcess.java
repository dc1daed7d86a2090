// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.reprise.benchmarks.measure.HttpConnection;
import io.reprise.benchmarks.measure.Processes;
import io.reprise.benchmarks.measure.Target;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** {@code reprise serve} on a database in its own process, with default settings except the rate limit. */
public final class ServerProcess implements AutoCloseable {

    /** Names the file for a recording of the server, if there is one. */
    public static final String RECORDING = "reprise.bench.server-recording";

    private static final String URL = "Reprise listens on ";

    private final Process process;
    private final String key;
    private final URI url;

    ServerProcess(Target target, boolean quick) throws IOException {
        process = Processes.start(
                options(quick),
                io.reprise.cli.Main.class,
                List.of(
                        "serve",
                        "--store-url=" + target.jdbcUrl(),
                        "--http-port=0",
                        // The default limit per key is far below the measured rates.
                        "--http-rate-limit=1000000"));
        String shown = "";
        String line = "";
        BufferedReader output = process.inputReader();
        while (line != null && !line.startsWith(URL)) {
            shown = line.startsWith("  reprise_") ? line.trim() : shown;
            line = output.readLine();
        }
        if (line == null) {
            process.destroy();
            throw new IllegalStateException("the server did not start");
        }
        key = shown;
        url = URI.create(line.substring(URL.length()));
    }

    private static List<String> options(boolean quick) {
        List<String> options = new ArrayList<>();
        if (quick) {
            options.add("-XX:TieredStopAtLevel=1");
        }
        String recording = System.getProperty(RECORDING);
        if (recording != null) {
            options.add("-XX:StartFlightRecording:settings=profile,filename=" + recording);
        }
        return options;
    }

    /** CPU that it has used so far. */
    Duration cpu() {
        return process.toHandle().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    HttpConnection connect() throws IOException {
        return new HttpConnection(url, key);
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
