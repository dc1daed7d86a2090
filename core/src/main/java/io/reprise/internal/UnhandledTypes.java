// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.WaitReason;
import io.reprise.store.JobStore;
import io.reprise.store.Settlement;
import io.reprise.store.StoreException;
import io.reprise.store.WorkerReport;
import io.reprise.store.WorkerState;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Types of jobs that this worker claimed and has no handler for. If another worker of the job's queue has one, this worker
 * puts the job back and leaves the type out of its claims. If none has, the job is parked until one has: so it costs two
 * writes, however long that takes, and no claim has to pass it. Thread-safe.
 */
final class UnhandledTypes {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    /** Begins the name that such a job is parked by; type and queue follow. */
    private static final String PREFIX = "type/";

    private static final char BETWEEN = ' ';

    /** What is known of the workers serves for this long. */
    private static final Duration KNOWN = Duration.ofSeconds(1);

    /** What is known of them is renewed this often while types are left to them. */
    private static final Duration RENEWED = Duration.ofSeconds(10);

    /** A worker that is gone may be back in a moment, with a new version. */
    private static final Duration ABSENT = Duration.ofMinutes(1);

    private final JobStore store;
    private final Driver driver;

    /** Types of claimed jobs, with the names they would be parked by. */
    private final Map<String, Set<String>> met = new HashMap<>();

    /** Workers that were seen, and when. */
    private final Map<WorkerReport, Long> seen = new HashMap<>();

    private final Set<String> warned = new HashSet<>();
    private List<WorkerReport> workers = List.of();
    private boolean looked;
    private long lookedNanos;

    UnhandledTypes(JobStore store, Driver driver) {
        this.store = store;
        this.driver = driver;
    }

    private static String name(String type, String queue) {
        return PREFIX + type + BETWEEN + queue;
    }

    /** Whether jobs are parked by this name because nobody handles their type. */
    static boolean isName(String parkedBy) {
        return parkedBy.startsWith(PREFIX) && parkedBy.indexOf(BETWEEN) > 0;
    }

    /** The type in such a name. */
    static String type(String parkedBy) {
        return parkedBy.substring(PREFIX.length(), parkedBy.indexOf(BETWEEN));
    }

    private static String queue(String parkedBy) {
        return parkedBy.substring(parkedBy.indexOf(BETWEEN) + 1);
    }

    /** A job of a type without a handler was claimed. Asks the store who else there is. */
    void claimed(Job job) {
        look(KNOWN);
        String name = name(job.type(), job.queue());
        boolean alone;
        synchronized (this) {
            met.computeIfAbsent(job.type(), type -> new HashSet<>()).add(name);
            alone = !isHandled(name) && warned.add(name);
        }
        if (alone) {
            log.warn(
                    "No live worker that serves queue {} has a handler for type {}: its jobs are parked until one has",
                    job.queue(),
                    job.type());
        }
    }

    /** What becomes of such a job. */
    synchronized Settlement.Next next(Job job) {
        String name = name(job.type(), job.queue());
        return isHandled(name)
                ? new Settlement.PutBack()
                : new Settlement.Park(name, WaitReason.NO_HANDLER, null, null);
    }

    /** Types that claims leave to other workers. */
    Set<String> leftToOthers() {
        synchronized (this) {
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

    /** Whether a worker that lives handles the jobs that are parked by this name. */
    boolean isHandledNow(String parkedBy) {
        look(KNOWN);
        synchronized (this) {
            return livesFor(parkedBy);
        }
    }

    /** By a worker that lives, or did a moment ago. */
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

    /** Sees who is there, so that it is known who was there a moment ago. */
    void renew() {
        look(RENEWED);
    }

    private void look(Duration known) {
        synchronized (this) {
            if (looked && driver.nanos() - lookedNanos < known.toNanos()) {
                return;
            }
            looked = true;
            lookedNanos = driver.nanos();
        }
        try {
            List<WorkerReport> live = store.workers().stream()
                    .map(WorkerState::report)
                    // What it holds at the moment does not make it another one.
                    .map(worker -> new WorkerReport(worker.name(), worker.queues(), worker.types(), 0, 0))
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
