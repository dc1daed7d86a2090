// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import java.time.Duration;

/** How fast a fleet works: as fast as the database can bear. */
public enum Tempo {
    /** For a database on this machine. Leases as short as they go: what is lost comes back soon. */
    BRISK(Duration.ofSeconds(2), Duration.ofSeconds(1), Duration.ofMillis(50), 100, 20_000),
    /** For one that answers some ninety calls a second. */
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

    /** The longest that a call of the store may take. */
    public Duration call() {
        return call;
    }

    public Duration lease() {
        return lease;
    }

    public Duration poll() {
        return poll;
    }

    /** How many jobs wait before a client enqueues no more. */
    int backlog() {
        return backlog;
    }

    /** How many bytes of history a worker may write at most before it is killed. */
    int longestLife() {
        return longestLife;
    }

    /** How long who waits for something rests before it looks again: each look costs what workers could use. */
    Duration rest() {
        return poll.dividedBy(2);
    }
}
