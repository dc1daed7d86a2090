// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.experiment;

import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One row with a version. Clients read it and write it if the version is unchanged; otherwise they wait and read again.
 */
final class Contention {

    private static final double NET_MEAN = 10;
    private static final double NET_DEVIATION = 2;

    private record Message(double millis, long number, Runnable arrives) {}

    private final RetryPolicy policy;
    private final RandomGenerator random;
    private final PriorityQueue<Message> messages =
            new PriorityQueue<>(Comparator.comparingDouble(Message::millis).thenComparingLong(Message::number));
    private long sent;
    private double now;
    private int version;
    private long writes;

    Contention(RetryPolicy policy, int clients, RandomGenerator random) {
        this.policy = policy;
        this.random = random;
        for (int i = 0; i < clients; i++) {
            new Client().read(0);
        }
    }

    double millisUntilAllDone() {
        Message next = messages.poll();
        while (next != null) {
            now = next.millis;
            next.arrives.run();
            next = messages.poll();
        }
        return now;
    }

    long writes() {
        return writes;
    }

    private void send(double delay, Runnable arrives) {
        double net = Math.abs(random.nextGaussian(NET_MEAN, NET_DEVIATION));
        messages.add(new Message(now + delay + net, sent++, arrives));
    }

    private final class Client {

        private int failures;
        private @Nullable Duration lastDelay;

        void read(double delay) {
            send(delay, () -> {
                int seen = version;
                send(0, () -> send(0, () -> write(seen)));
            });
        }

        private void write(int seen) {
            writes++;
            boolean written = seen == version;
            if (written) {
                version++;
            }
            send(0, () -> {
                if (!written) {
                    Duration delay = policy.delay(++failures, lastDelay, random);
                    lastDelay = delay;
                    read(delay.toNanos() / 1e6);
                }
            });
        }
    }
}
