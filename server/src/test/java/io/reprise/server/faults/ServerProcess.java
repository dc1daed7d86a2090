// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.faults;

import io.reprise.cli.Main;
import io.reprise.testkit.faults.JavaProcess;
import io.reprise.testkit.faults.TcpProxy;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One server with a proxy before it and one between it and the database. It can be killed and started again. */
final class ServerProcess implements AutoCloseable {

    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s*(\\d+) kB");

    private static final Pattern LIVE = Pattern.compile("Total\\s+\\d+\\s+(\\d+)");

    final TcpProxy front;
    final TcpProxy database;
    private final int port;
    private final Path log;
    private final String[] args;
    private JavaProcess process;
    private int starts;

    ServerProcess(String name, int databasePort, String databaseName, String adminKey, Path directory)
            throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        database = TcpProxy.before(databasePort);
        front = TcpProxy.before(port);
        log = Files.createDirectory(directory.resolve(name)).resolve("log.txt");
        args = new String[] {
            "serve",
            "--store-url",
            "postgresql://postgres@127.0.0.1:" + database.port() + "/" + databaseName,
            "--http-port",
            Integer.toString(port),
            "--admin-key",
            adminKey,
            "--worker-lease",
            "5s",
            "--delivery-allow",
            "127.0.0.1"
        };
        process = JavaProcess.start(Main.class, log, args);
    }

    /** Where clients connect, through the proxy. */
    String url() {
        return "http://127.0.0.1:" + front.port();
    }

    void awaitReady() throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
        while (!isReady()) {
            if (!process.isAlive() || System.nanoTime() - until > 0) {
                throw new IllegalStateException("The server does not answer:\n" + process.logTail());
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }

    private boolean isReady() {
        try {
            HttpURLConnection connection = (HttpURLConnection)
                    URI.create("http://127.0.0.1:" + port + "/readyz").toURL().openConnection();
            connection.setConnectTimeout(2_000);
            connection.setReadTimeout(5_000);
            return connection.getResponseCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    void kill() {
        process.kill();
    }

    void startAgain() {
        starts++;
        process = JavaProcess.start(Main.class, log, args);
    }

    void pause() {
        process.pause();
    }

    void resume() {
        process.resume();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    int starts() {
        return starts;
    }

    /** Megabytes of memory that the process has now. */
    int residentMegabytes() {
        try {
            Matcher found =
                    RESIDENT.matcher(Files.readString(Path.of("/proc", Long.toString(process.pid()), "status")));
            return found.find() ? Integer.parseInt(found.group(1)) / 1024 : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    /** Megabytes of the heap that are in use after a full collection. */
    double liveMegabytes() throws IOException, InterruptedException {
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        Path answer = Files.createTempFile("histogram", ".txt");
        try {
            Process asked = new ProcessBuilder(jcmd.toString(), Long.toString(process.pid()), "GC.class_histogram")
                    .redirectErrorStream(true)
                    .redirectOutput(answer.toFile())
                    .start();
            if (!asked.waitFor(2, TimeUnit.MINUTES)) {
                asked.destroyForcibly();
                throw new IllegalStateException("jcmd does not answer");
            }
            String histogram = Files.readString(answer);
            Matcher found = LIVE.matcher(histogram);
            if (!found.find()) {
                throw new IllegalStateException("No total: " + histogram);
            }
            return Long.parseLong(found.group(1)) / 1_048_576.0;
        } finally {
            Files.delete(answer);
        }
    }

    String log() throws IOException {
        return Files.readString(log);
    }

    @Override
    public void close() {
        process.close();
        front.close();
        database.close();
    }
}
