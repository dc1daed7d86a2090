// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator;

import java.util.ArrayDeque;
import java.util.Deque;

/** A retry budget of a client of a request service: if it is empty, the retry is not sent and the request fails. */
public interface ClientBudget {

    /** Every retry is sent. */
    ClientBudget UNLIMITED = () -> true;

    default void sent() {}

    default void succeeded() {}

    default void failed() {}

    /** Whether a retry may be sent. It is then paid for. */
    boolean pays();

    /** A bucket that successes fill and retries empty; full at first. */
    static ClientBudget bucket(double capacity, double deposit, double cost) {
        return new ClientBudget() {
            private double tokens = capacity;

            @Override
            public void succeeded() {
                tokens = Math.min(capacity, tokens + deposit);
            }

            @Override
            public boolean pays() {
                if (tokens < cost) {
                    return false;
                }
                tokens -= cost;
                return true;
            }
        };
    }

    /** Allows a share of the sends of the last ten seconds, plus a number per second, whatever their outcome. */
    static ClientBudget ofSends(World world, double share, double perSecond) {
        return new ClientBudget() {
            private static final double WINDOW = 10;
            private final Deque<Double> sends = new ArrayDeque<>();
            private final Deque<Double> retries = new ArrayDeque<>();

            @Override
            public void sent() {
                sends.addLast(world.now());
            }

            @Override
            public boolean pays() {
                forget(sends);
                forget(retries);
                if (retries.size() + 1 > share * sends.size() + perSecond * WINDOW) {
                    return false;
                }
                retries.addLast(world.now());
                return true;
            }

            private void forget(Deque<Double> times) {
                while (!times.isEmpty() && times.peekFirst() < world.now() - WINDOW) {
                    times.removeFirst();
                }
            }
        };
    }

    /** Sends no retries while more than this share of the last hundred calls failed. */
    static ClientBudget breaker(double share) {
        return new ClientBudget() {
            private static final int LAST = 100;
            private final Deque<Boolean> outcomes = new ArrayDeque<>();
            private int failures;

            @Override
            public void succeeded() {
                add(false);
            }

            @Override
            public void failed() {
                add(true);
            }

            private void add(boolean failure) {
                outcomes.addLast(failure);
                failures += failure ? 1 : 0;
                if (outcomes.size() > LAST && outcomes.removeFirst()) {
                    failures--;
                }
            }

            @Override
            public boolean pays() {
                return failures <= share * outcomes.size();
            }
        };
    }
}
