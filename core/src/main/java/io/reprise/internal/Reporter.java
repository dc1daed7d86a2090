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
 * Tells the store that this worker lives, and writes the counts of {@link Tallies}. After failures it reads the
 * fleet's evidence for predictions. The driver steps it every 10 seconds; it calls {@code JobStore.checkIn},
 * {@code tally} and {@code evidence}.
 */
final class Reporter implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    /** A worker counts as gone after three missing reports. */
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

    /** Writes the last counts and checks the worker out. */
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
            // The store may have written the counts although the call failed. Counting twice is no worse than not
            // counting, and it is rarer.
            tallies.putBack(findings);
            throw e;
        }
    }

    private WorkerReport report() {
        List<String> queues = settings.queues().stream().map(Queue::name).toList();
        return new WorkerReport(settings.name(), queues, types, settings.concurrency(), book.open());
    }
}
