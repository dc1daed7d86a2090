// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Queue;
import io.reprise.store.Evidence;
import io.reprise.store.Findings;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.store.WorkerReport;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store now and then that this worker lives and what it has counted, and reads what the fleet has counted
 * while there are failures to judge by it.
 */
final class Reporter implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    /** A worker is taken to be gone after three reports that did not come. */
    private static final Duration TTL = INTERVAL.multipliedBy(3);

    private final JobStore store;
    private final WorkerSettings settings;
    private final List<String> types;
    private final LeaseBook book;
    private final Tallies tallies;
    private final Outlook outlook;
    private final UnhandledTypes unhandled;
    private final OutageRest outage;

    Reporter(EngineParts parts, LeaseBook book, Outlook outlook) {
        this.store = parts.store();
        this.settings = parts.settings();
        this.types = parts.handlers().types();
        this.book = book;
        this.tallies = parts.tallies();
        this.outlook = outlook;
        this.unhandled = parts.unhandled();
        this.outage = new OutageRest("reporter", parts.random());
    }

    @Override
    public String name() {
        return "reporter";
    }

    @Override
    public Duration step() {
        try {
            store.checkIn(report(), TTL);
            unhandled.renew();
            tell();
            if (tallies.sawFailures()) {
                List<Evidence> evidence = store.evidence();
                outlook.learn(evidence);
                tallies.known(evidence);
            }
            outage.worked();
            return INTERVAL;
        } catch (StoreException e) {
            return outage.failed(e);
        } catch (RuntimeException e) {
            log.error("The report of worker {} failed in an unforeseen way and is tried again", settings.name(), e);
            return INTERVAL;
        }
    }

    /** Tells the last, and that there will be no more. */
    void farewell() {
        try {
            tell();
            store.checkOut(settings.name());
        } catch (RuntimeException e) {
            log.debug("Worker {} left without its last report: {}", settings.name(), e.getMessage());
        }
    }

    private void tell() {
        Findings findings = tallies.take();
        if (findings.isEmpty()) {
            return;
        }
        try {
            store.tally(findings);
        } catch (StoreException e) {
            // It may have been written all the same. Counted twice is as good as not at all, and rarer.
            tallies.putBack(findings);
            throw e;
        }
    }

    private WorkerReport report() {
        List<String> queues = settings.queues().stream().map(Queue::name).toList();
        return new WorkerReport(settings.name(), queues, types, settings.concurrency(), book.open());
    }
}
