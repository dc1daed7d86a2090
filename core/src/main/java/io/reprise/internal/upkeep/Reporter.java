// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.Queue;
import io.reprise.fairness.FlowLimit;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.Evidence;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.engine.OutageRest;
import io.reprise.internal.engine.Role;
import io.reprise.internal.engine.WorkerSettings;
import io.reprise.internal.run.CodeLimits;
import io.reprise.internal.run.LeaseBook;
import io.reprise.internal.run.TypeLimits;
import io.reprise.internal.run.UnhandledTypes;
import io.reprise.internal.settle.Events;
import io.reprise.internal.settle.PredictionTable;
import io.reprise.internal.settle.RunTotals;
import io.reprise.job.WorkerReport;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.store.WorkerCounts;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store that this worker lives, and writes the counts of {@link RunTotals}. After failures it reads the
 * fleet's evidence for predictions. The driver steps it every 10 seconds; it calls {@code JobStore.checkIn},
 * {@code tally} and {@code evidence}.
 */
public final class Reporter implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    /** A worker counts as gone after three missing reports. */
    private static final Duration TTL = INTERVAL.multipliedBy(3);

    private final JobStore store;
    private final WorkerSettings settings;
    private final Map<String, FlowLimit> rates;
    private final List<String> types;
    private final TypeLimits typeLimits;
    private final LeaseBook book;
    private final RunTotals totals;
    private final Events events;
    private final PredictionTable predictions;
    private final UnhandledTypes unhandled;
    private final OutageRest outage;

    /**
     * Creates the reporter of one worker.
     *
     * @param rates rates of resources that this worker has in its code
     */
    public Reporter(EngineParts parts, LeaseBook book, PredictionTable predictions, Map<String, FlowLimit> rates) {
        this.rates = Map.copyOf(rates);
        this.store = parts.store();
        this.settings = parts.settings();
        this.types = parts.handlers().known();
        this.typeLimits = new TypeLimits(settings, parts.live());
        this.book = book;
        this.totals = parts.totals();
        this.events = parts.events();
        this.predictions = predictions;
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
            CodeLimits.tell(store, settings.name(), settings.queues(), rates);
            unhandled.renew();
            tell();
            if (totals.sawFailures()) {
                List<Evidence> evidence = store.evidence();
                predictions.learn(evidence);
                totals.known(evidence);
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
    public void checkOut() {
        try {
            tell();
            store.checkOut(settings.name());
            CodeLimits.forget(store, settings.name(), settings.queues(), rates);
        } catch (RuntimeException e) {
            log.debug("Worker {} left without its last report: {}", settings.name(), e.getMessage());
        }
    }

    private void tell() {
        List<ControlEvent> changes = events.takeControls();
        if (!changes.isEmpty()) {
            // Changes that cannot be written are lost. The log has them as well.
            store.addControlEvents(changes);
        }
        WorkerCounts workerCounts = totals.take();
        if (workerCounts.isEmpty()) {
            return;
        }
        try {
            store.addCounts(workerCounts);
        } catch (StoreException e) {
            // The store may have written the counts although the call failed. Counting twice is no worse than not
            // counting, and it is rarer.
            totals.putBack(workerCounts);
            throw e;
        }
    }

    private WorkerReport report() {
        List<String> queues = settings.queues().stream().map(Queue::name).toList();
        return new WorkerReport(settings.name(), queues, types, settings.concurrency(), book.open())
                .offering(settings.offers())
                .full(typeLimits.full(book));
    }
}
