// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import java.time.Duration;

/** How fast a fleet works, depending on the database. */
public enum Tempo {
    /** For a database on this machine. Leases are as short as possible, so that lost jobs return soon. */
    BRISK(Duration.ofSeconds(2), Duration.ofSeconds(1), Duration.ofMillis(50), 100, 20_000),
    /** For a database that answers about ninety calls per second. */
    SLOW(Duration.ofSeconds(8), Duration.ofSeconds(4), Duration.ofMillis(500), 40, 5_000);

    private final Duration call;
    private final Duration lease;
    private final Duration poll;
    private final int backlog;
    private final int longestLife;

    Tempo(Duration call, Duration lease, Duration poll, int backlog, int longestLife) {
        this.call = call;
        this.lease = lease;
        this.poll = poll;
        this.backlog = backlog;
        this.longestLife = longestLife;
    }

    /** Returns the longest time that a store call may take. */
    public Duration call() {
        return call;
    }

    public Duration lease() {
        return lease;
    }

    public Duration poll() {
        return poll;
    }

    /** Returns how many waiting jobs make a client stop enqueueing. */
    int backlog() {
        return backlog;
    }

    /** Returns how many bytes of history a worker may write before it is killed. */
    int longestLife() {
        return longestLife;
    }

    /** Returns the rest between two checks of a condition: each check costs the workers time. */
    Duration rest() {
        return poll.dividedBy(2);
    }
}
