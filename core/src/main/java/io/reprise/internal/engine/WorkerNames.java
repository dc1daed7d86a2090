// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Supplies a worker's name and its random numbers, unless the user gives them. {@code RepriseBuilder}
 * calls it once per worker.
 */
public final class WorkerNames {

    private WorkerNames() {}

    /** Returns a generator that many threads may share, seeded from the system's entropy. */
    public static RandomGenerator random() {
        return new SharedRandom(new SplittableRandom(new SecureRandom().nextLong()));
    }

    public static String unique(RandomGenerator random) {
        String host = host().replaceAll("[^A-Za-z0-9_.-]|^[^A-Za-z0-9]", "w");
        String part = Integer.toHexString(random.nextInt(0x10000, 0x100000));
        return host.substring(0, Math.min(host.length(), 40)) + "-"
                + ProcessHandle.current().pid() + "-" + part;
    }

    /** Does not ask the network: looking up the own host name can take seconds where the resolver is slow. */
    private static String host() {
        for (String variable : List.of("HOSTNAME", "COMPUTERNAME")) {
            String name = System.getenv(variable);
            if (name != null && !name.isBlank()) {
                return name;
            }
        }
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "worker";
        }
    }

    private record SharedRandom(SplittableRandom source) implements RandomGenerator {
        @Override
        public long nextLong() {
            synchronized (source) {
                return source.nextLong();
            }
        }
    }
}
