// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.run;

import io.reprise.internal.engine.Driver;
import io.reprise.job.Job;
import io.reprise.job.WaitReason;
import io.reprise.job.WorkerReport;
import io.reprise.job.WorkerState;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Job types that this worker claimed without having a handler. If another live worker of the queue has one, this worker
 * puts the job back and leaves the type out of its claims. If no worker has one, the job is parked until a worker does.
 * A job of its own type whose payload has a newer version is treated alike, but the type is left out for some seconds
 * only: the other worker takes the newer jobs in that time, and this one goes on with the older ones.
 * So such a job costs two writes, however long it waits, and no claim has to skip it. Handler threads, the
 * {@code Fetcher}, the {@code OutcomeDecider} and the {@code ControlSync} call it. Thread-safe.
 */
public final class UnhandledTypes {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    /** Prefix of the name that parks such a job; type and queue follow. */
    private static final String PREFIX = "type/";

    private static final char BETWEEN = ' ';

    /** Age up to which the list of workers is used. */
    private static final Duration KNOWN = Duration.ofSeconds(1);

    /** How often the list of workers is read while types are left to other workers. */
    private static final Duration RENEWED = Duration.ofSeconds(10);

    /** How long a worker that is gone still counts: it may restart with a new version. */
    private static final Duration ABSENT = Duration.ofMinutes(1);

    private final JobStore store;
    private final Driver driver;

    /** How long a type is left out that this worker handles in an older version. */
    private static final Duration REST = Duration.ofSeconds(5);

    /** Until when types of this worker are left out. */
    private final Map<String, Long> resting = new HashMap<>();

    /** Types of claimed jobs, with the names that would park them. */
    private final Map<String, Set<String>> met = new HashMap<>();

    /** Workers with the time when each was last seen. */
    private final Map<WorkerReport, Long> seen = new HashMap<>();

    private final Set<String> warned = new HashSet<>();
    private List<WorkerReport> workers = List.of();
    private boolean scanned;
    private long lookedNanos;

    /** Types that this worker handles, in some version. */
    private final Set<String> own;

    public UnhandledTypes(JobStore store, Driver driver, Collection<String> own) {
        this.store = store;
        this.driver = driver;
        this.own = Set.copyOf(own);
    }

    private static String name(Job job) {
        String type = WorkerReport.versioned(job.type(), job.spec().version());
        return PREFIX + type + BETWEEN + job.queue();
    }

    /** Whether this name parks jobs because no worker handles their type. */
    public static boolean isName(String parkedBy) {
        return parkedBy.startsWith(PREFIX) && parkedBy.indexOf(BETWEEN) > 0;
    }

    /** Returns the type in such a name. */
    public static String type(String parkedBy) {
        return parkedBy.substring(PREFIX.length(), parkedBy.indexOf(BETWEEN));
    }

    private static String queue(String parkedBy) {
        return parkedBy.substring(parkedBy.indexOf(BETWEEN) + 1);
    }

    /** Notes that a job without a handler was claimed. Asks the store which workers live. */
    void claimed(Job job) {
        look(KNOWN);
        String name = name(job);
        boolean alone;
        synchronized (this) {
            met.computeIfAbsent(job.type(), type -> new HashSet<>()).add(name);
            if (own.contains(job.type())) {
                resting.put(job.type(), driver.nanos() + REST.toNanos());
            }
            alone = !isHandled(name) && warned.add(name);
        }
        if (alone) {
            log.warn(
                    "No live worker that serves queue {} has a handler for type {}: its jobs are parked until one has",
                    job.queue(),
                    type(name));
        }
    }

    /** Returns what becomes of such a job: it is put back or parked. */
    public synchronized Settlement.Next next(Job job) {
        String name = name(job);
        return isHandled(name)
                ? new Settlement.PutBack()
                : new Settlement.Park(name, WaitReason.NO_HANDLER, null, null);
    }

    /** Returns the types that this worker's claims leave out. */
    Set<String> leftToOthers() {
        synchronized (this) {
            resting.entrySet().removeIf(rest -> {
                boolean over = driver.nanos() - rest.getValue() >= 0;
                if (over) {
                    met.remove(rest.getKey());
                }
                return over;
            });
            if (met.isEmpty()) {
                return Set.of();
            }
        }
        look(RENEWED);
        synchronized (this) {
            return met.entrySet().stream()
                    .filter(entry -> entry.getValue().stream().anyMatch(this::isHandled))
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toSet());
        }
    }

    /** Whether a live worker handles the jobs that this name parks. */
    public boolean isHandledNow(String parkedBy) {
        look(KNOWN);
        synchronized (this) {
            return livesFor(parkedBy);
        }
    }

    /** Whether a worker handles it that lives, or lived within the last minute. */
    private boolean isHandled(String name) {
        long now = driver.nanos();
        seen.values().removeIf(nanos -> now - nanos > ABSENT.toNanos());
        return seen.keySet().stream().anyMatch(worker -> handles(worker, name));
    }

    private boolean livesFor(String name) {
        return workers.stream().anyMatch(worker -> handles(worker, name));
    }

    private static boolean handles(WorkerReport worker, String name) {
        return worker.handles(type(name)) && worker.serves(queue(name));
    }

    /** Reads the live workers, so that a worker that goes away is remembered. */
    public void renew() {
        look(RENEWED);
    }

    private void look(Duration known) {
        synchronized (this) {
            if (scanned && driver.nanos() - lookedNanos < known.toNanos()) {
                return;
            }
            scanned = true;
            lookedNanos = driver.nanos();
        }
        try {
            List<WorkerReport> live = store.workers().stream()
                    .map(WorkerState::report)
                    // Without what it runs now, so that a worker equals its earlier report.
                    .map(worker -> new WorkerReport(worker.name(), worker.queues(), worker.handled(), 0, 0))
                    .toList();
            synchronized (this) {
                workers = live;
                live.forEach(worker -> seen.put(worker, driver.nanos()));
            }
        } catch (StoreException e) {
            log.debug("Cannot tell which workers live: {}", e.getMessage());
        }
    }
}
