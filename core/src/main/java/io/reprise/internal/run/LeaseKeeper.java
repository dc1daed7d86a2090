// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.internal.engine.Driver;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.OutageRest;
import io.reprise.internal.engine.Role;
import io.reprise.store.JobStore;
import io.reprise.store.Renewal;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews all leases of the worker in one call, at the latest after a third of their term. The answer also names the
 * jobs to cancel. If a lease is lost or could not be renewed in time, this role tells its runs to stop. The driver
 * steps it; it calls {@code JobStore.renew} and {@link Runner#stop}.
 */
public final class LeaseKeeper implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");

    /** Longest time between renewals. Also the time until a running job learns of a cancellation in another process. */
    private static final Duration MAX_RENEWAL_INTERVAL = Duration.ofSeconds(2);

    /** How long a claimed job may wait for a thread before it is given back for another worker. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

    private final JobStore store;
    private final Driver driver;
    private final LeaseBook book;
    private final Runner runner;
    private final String worker;
    private final Duration lease;
    private final OutageRest outage;

    public LeaseKeeper(EngineParts parts, LeaseBook book, Runner runner) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.book = book;
        this.runner = runner;
        this.worker = parts.settings().name();
        this.lease = parts.settings().timing().lease();
        this.outage = new OutageRest("lease keeper", parts.random());
    }

    @Override
    public String name() {
        return "lease-keeper";
    }

    @Override
    public Duration step() {
        giveBackWhatWaits();
        List<HeldLease> held = book.leases();
        if (held.isEmpty()) {
            return interval();
        }
        long before = driver.nanos();
        try {
            Renewal renewal =
                    store.renew(worker, held.stream().map(l -> l.token).toList(), lease);
            book.extend(
                    held.stream().filter(l -> !renewal.lost().contains(l.token)).toList(), before + lease.toNanos());
            held.stream().filter(l -> renewal.lost().contains(l.token)).forEach(this::lose);
            // Sorted, because the order of a set is not fixed: one seed must give one course of events.
            renewal.cancelled().stream()
                    .sorted()
                    .forEach(id -> book.runs(id).forEach(run -> runner.stop(run, Run.Stop.CANCELLED)));
            outage.worked();
            Run.writeLogs(book.unfinished(), store);
            return interval();
        } catch (StoreException e) {
            Duration rest = outage.failed(e);
            held.stream().filter(l -> book.isExpired(l, driver.nanos())).forEach(this::lose);
            return rest.compareTo(interval()) < 0 ? rest : interval();
        }
    }

    /** Gives back jobs that were fetched ahead and wait behind long ones, so that another worker can run them. */
    private void giveBackWhatWaits() {
        long now = driver.nanos();
        List<Run> waiting =
                book.unfinished(run -> run.isWaiting() && now - run.lease.claimedNanos > LONGEST_WAIT.toNanos());
        if (!waiting.isEmpty()) {
            log.info("{} jobs fetched ahead are given back: the ones before them take long", waiting.size());
            runner.pace().stalled();
            runner.giveBack(waiting);
        }
    }

    private void lose(HeldLease lost) {
        for (Run run : book.runs(lost)) {
            if (!run.hasEnded() && run.stopReason() == null) {
                log.warn("Lease {} on job {} is lost: its run is told to stop", lost.token, run.id());
                runner.stop(run, Run.Stop.LOST);
            }
        }
    }

    private Duration interval() {
        Duration third = lease.dividedBy(3);
        return third.compareTo(MAX_RENEWAL_INTERVAL) < 0 ? third : MAX_RENEWAL_INTERVAL;
    }
}
