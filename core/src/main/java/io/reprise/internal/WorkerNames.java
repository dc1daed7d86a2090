// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Where a worker's name and its chance come from, unless given. */
public final class WorkerNames {

    private WorkerNames() {}

    /** A generator that many threads may share, seeded from the system's entropy. */
    public static RandomGenerator random() {
        return new SharedRandom(new SplittableRandom(new SecureRandom().nextLong()));
    }

    public static String unique(RandomGenerator random) {
        String host = host().replaceAll("[^A-Za-z0-9_.-]", "-");
        String part = Integer.toHexString(random.nextInt(0x10000, 0x100000));
        return host.substring(0, Math.min(host.length(), 40)) + "-"
                + ProcessHandle.current().pid() + "-" + part;
    }

    private static String host() {
        try {
            String host = InetAddress.getLocalHost().getHostName();
            return host.isEmpty() || !Character.isLetterOrDigit(host.charAt(0)) ? "worker" : host;
        } catch (UnknownHostException e) {
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
