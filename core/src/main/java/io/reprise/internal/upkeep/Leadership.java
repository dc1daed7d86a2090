// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether this worker is the leader, which does the fleet's upkeep. All upkeep roles share one term in the store: while
 * one role steps, the term is renewed, and a slow role does not cost the worker its lead. Thread-safe.
 */
public final class Leadership {

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

    public Leadership(EngineParts parts) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.worker = parts.settings().name();
        Duration lease = parts.settings().timing().lease();
        // At most one lease long: when the leader dies, its successor must be there when the leader's leases expire.
        this.term = lease.compareTo(LONGEST_TERM) < 0 ? lease : LONGEST_TERM;
        this.askAgainNanos = driver.nanos();
        this.leadsUntilNanos = askAgainNanos;
    }

    /** Asks the store only when half of the term is over, so that an idle fleet makes few calls. */
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

    /** Whether this worker's term is not over yet. It asks nobody, so two workers may both believe that they lead. */
    public boolean isLeader() {
        return leadsUntilNanos - driver.nanos() > 0;
    }

    /** How long a worker that does not lead rests before it asks again. */
    Duration rest() {
        return term.dividedBy(2);
    }

    /** Gives up the lead for good. */
    public synchronized void resign() {
        resigned = true;
        leadsUntilNanos = driver.nanos();
        try {
            store.resign(ROLE, worker);
        } catch (StoreException e) {
            log.debug("Could not resign; another leads after {}: {}", term, e.getMessage());
        }
    }
}
