// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.measure;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** CPU time of processes, as the system counts it. */
public final class CpuTime {

    private static final Path PROCESSES = Path.of("/proc");

    /** Linux counts in hundredths of a second. */
    private static final Duration TICK = Duration.ofMillis(10);

    /** Places after the name in what Linux tells about a process. */
    private static final int PARENT = 1;

    private static final int USED = 11;
    private static final int USED_BY_ENDED_CHILDREN = 13;

    private CpuTime() {}

    /** Of this process. */
    public static Duration own() {
        return Duration.ofNanos(
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime());
    }

    /** Of all processes of a PostgreSQL server on this machine; null if it is another database, or cannot be seen. */
    public static @Nullable Duration ofDatabase(Target target) throws SQLException {
        if (target.store() != StoreKind.POSTGRESQL || !Files.isDirectory(PROCESSES.resolve("self"))) {
            return null;
        }
        try (Connection connection = target.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
            row.next();
            String[] backend = stat(row.getString(1));
            return backend == null ? null : ofServer(backend[PARENT]);
        }
    }

    private static @Nullable Duration ofServer(String server) {
        String[] own = stat(server);
        if (own == null) {
            return null;
        }
        long ticks = ticks(own, USED) + ticks(own, USED_BY_ENDED_CHILDREN);
        for (String process : processes()) {
            String[] each = stat(process);
            ticks += each != null && each[PARENT].equals(server) ? ticks(each, USED) : 0;
        }
        return TICK.multipliedBy(ticks);
    }

    private static List<String> processes() {
        try (Stream<Path> all = Files.list(PROCESSES)) {
            return all.map(path -> path.getFileName().toString())
                    .filter(name -> Character.isDigit(name.charAt(0)))
                    .toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** In user mode and in the kernel. */
    private static long ticks(String[] stat, int place) {
        return Long.parseLong(stat[place]) + Long.parseLong(stat[place + 1]);
    }

    /** Returns the fields of a process after its name, as Linux shows them; null if the process has ended. */
    private static String @Nullable [] stat(String process) {
        try {
            String line = Files.readString(PROCESSES.resolve(process).resolve("stat"));
            return line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
        } catch (IOException e) {
            return null;
        }
    }
}
