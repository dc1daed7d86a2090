// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** A token bucket for each of many names. Only names in use are kept. Thread-safe. */
public final class Buckets {

    private static final int MAX = 10_000;

    private record Level(double tokens, Instant at) {}

    private final double perSecond;
    private final double capacity;
    /** Least recently used first. */
    private final Map<String, Level> levels = new LinkedHashMap<>(16, 0.75f, true);

    public Buckets(double perSecond, double capacity) {
        this.perSecond = perSecond;
        this.capacity = capacity;
    }

    /** Takes a token if there is one. */
    synchronized boolean take(String name, Instant now) {
        double tokens = tokens(name, now, perSecond, capacity);
        if (tokens < 1) {
            return false;
        }
        put(name, tokens - 1, now);
        return true;
    }

    /** Takes {@code amount} tokens, even if there are fewer: what is missing is earned first. */
    public synchronized void spend(String name, Instant now, double amount) {
        put(name, tokens(name, now, perSecond, capacity) - amount, now);
    }

    /** Takes {@code amount} tokens, even if there are fewer, from a bucket with this rate. */
    synchronized void take(String name, Instant now, double amount, double rate) {
        put(name, tokens(name, now, rate, 2 * rate) - amount, now);
    }

    /** How long until there is a token. */
    public synchronized Duration untilOne(String name, Instant now) {
        return until(1 - tokens(name, now, perSecond, capacity), perSecond);
    }

    /** How long until there is a token, for a bucket with this rate. */
    synchronized Duration untilOne(String name, Instant now, double rate) {
        return until(1 - tokens(name, now, rate, 2 * rate), rate);
    }

    /** Returns the number of whole tokens that are left. */
    synchronized long left(String name, Instant now) {
        return (long) Math.max(0, tokens(name, now, perSecond, capacity));
    }

    /** How long until the bucket is full. */
    synchronized Duration untilFull(String name, Instant now) {
        return until(capacity - tokens(name, now, perSecond, capacity), perSecond);
    }

    private static Duration until(double missing, double rate) {
        return missing <= 0 ? Duration.ZERO : Duration.ofNanos((long) (missing / rate * 1e9));
    }

    private void put(String name, double tokens, Instant now) {
        levels.put(name, new Level(tokens, now));
        if (levels.size() > MAX) {
            Iterator<String> oldest = levels.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    private double tokens(String name, Instant now, double rate, double most) {
        Level level = levels.get(name);
        if (level == null) {
            return most;
        }
        double earned = Math.max(0, Duration.between(level.at, now).toNanos() / 1e9 * rate);
        return Math.min(most, level.tokens + earned);
    }
}
