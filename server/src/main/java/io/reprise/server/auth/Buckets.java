// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** A token bucket for each of many names, of which only those in use are kept. Thread-safe. */
final class Buckets {

    private static final int MAX = 10_000;

    private record Level(double tokens, Instant at) {}

    private final double perSecond;
    private final double capacity;
    /** Least recently used first. */
    private final Map<String, Level> levels = new LinkedHashMap<>(16, 0.75f, true);

    Buckets(double perSecond, double capacity) {
        this.perSecond = perSecond;
        this.capacity = capacity;
    }

    /** Takes a token if there is one. */
    synchronized boolean take(String name, Instant now) {
        double tokens = tokens(name, now);
        if (tokens < 1) {
            return false;
        }
        levels.put(name, new Level(tokens - 1, now));
        if (levels.size() > MAX) {
            Iterator<String> oldest = levels.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        return true;
    }

    synchronized boolean isEmpty(String name, Instant now) {
        return tokens(name, now) < 1;
    }

    synchronized Duration untilOne(String name, Instant now) {
        double missing = 1 - tokens(name, now);
        return missing <= 0 ? Duration.ZERO : Duration.ofNanos((long) (missing / perSecond * 1e9));
    }

    private double tokens(String name, Instant now) {
        Level level = levels.get(name);
        if (level == null) {
            return capacity;
        }
        double earned = Math.max(0, Duration.between(level.at, now).toNanos() / 1e9 * perSecond);
        return Math.min(capacity, level.tokens + earned);
    }
}
