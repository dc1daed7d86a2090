// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether this worker is the one that does the fleet's upkeep. Its roles share one term: as long as one of them takes its
 * steps, no other worker steps up because a slow one did not ask in time. Thread-safe.
 */
final class Leadership {

    static final String ROLE = "sweeper";

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration LONGEST_TERM = Duration.ofSeconds(10);

    private final JobStore store;
    private final Driver driver;
    private final String worker;
    private final Duration term;
    private boolean led;
    private boolean resigned;
    private long askAgainNanos;
    private volatile long leadsUntilNanos;

    Leadership(EngineParts parts) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.worker = parts.settings().name();
        Duration lease = parts.settings().timing().lease();
        // No longer than a lease: when the leader dies with its jobs, its successor shall be there to reclaim them.
        this.term = lease.compareTo(LONGEST_TERM) < 0 ? lease : LONGEST_TERM;
        this.askAgainNanos = driver.nanos();
        this.leadsUntilNanos = askAgainNanos;
    }

    /** Asks the store only when half of the term is over: an idle fleet shall not keep its database busy. */
    synchronized boolean leads() {
        long now = driver.nanos();
        if (resigned || now - askAgainNanos < 0) {
            return led && !resigned;
        }
        led = store.lead(ROLE, worker, term);
        leadsUntilNanos = led ? now + term.toNanos() : now;
        askAgainNanos = now + rest().toNanos();
        return led;
    }

    /** Whether this worker led a moment ago and still may: for what is safe even if two believe so. */
    boolean isLeader() {
        return leadsUntilNanos - driver.nanos() > 0;
    }

    /** How long those rest who do not lead. */
    Duration rest() {
        return term.dividedBy(2);
    }

    /** Gives up the lead for good. */
    synchronized void resign() {
        resigned = true;
        leadsUntilNanos = driver.nanos();
        try {
            store.resign(ROLE, worker);
        } catch (StoreException e) {
            log.debug("Could not resign; another leads after {}: {}", term, e.getMessage());
        }
    }
}
