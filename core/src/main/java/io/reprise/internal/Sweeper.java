// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.Job;
import io.reprise.JobEvent;
import io.reprise.JobState;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after what nobody else does, on one elected worker of the fleet: leases of workers that are gone, deadlines that
 * passed, schedules, alerts, old jobs. Each piece is safe even if two workers believe they lead.
 */
final class Sweeper implements Role {

    static final String LEADER = "sweeper";

    private static final Logger log = LoggerFactory.getLogger("io.reprise.engine");
    private static final Duration LONGEST_TERM = Duration.ofSeconds(10);
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration UPKEEP = Duration.ofMinutes(1);
    private static final int JOBS = 500;

    private final JobStore store;
    private final Driver driver;
    private final WorkerSettings settings;
    private final Events events;
    private final Outbox outbox;
    private final StoreClock clock;
    private final ScheduleFirer schedules;
    private final AlertWatch alerts;
    private final Tallies tallies;
    private final Duration term;
    private final Reclaimer reclaimer;
    private final OutageRest outage;
    private long nextUpkeepNanos;
    private volatile long leadsUntilNanos;

    Sweeper(EngineParts parts, Decider decider, ScheduleFirer schedules, AlertWatch alerts, Runnable onWork) {
        this.store = parts.store();
        this.driver = parts.driver();
        this.settings = parts.settings();
        this.events = parts.events();
        this.outbox = parts.outbox();
        this.clock = parts.clock();
        this.schedules = schedules;
        this.alerts = alerts;
        this.tallies = parts.tallies();
        Duration lease = settings.timing().lease();
        // No longer than a lease: when the leader dies with its jobs, its successor shall be there to reclaim them.
        this.term = lease.compareTo(LONGEST_TERM) < 0 ? lease : LONGEST_TERM;
        this.reclaimer = new Reclaimer(parts, decider, onWork);
        this.outage = new OutageRest("sweeper", parts.random());
        this.nextUpkeepNanos = parts.driver().nanos();
        this.leadsUntilNanos = nextUpkeepNanos;
    }

    @Override
    public String name() {
        return "sweeper";
    }

    @Override
    public Duration step() {
        try {
            guarded("reclaim", reclaimer::settleTaken, false);
            if (!leads()) {
                outage.worked();
                return term.dividedBy(2);
            }
            long asked = driver.nanos();
            clock.heard(store.now(), asked);
            boolean moreLost = guarded("reclaim", reclaimer::reclaim, false);
            boolean moreLate = guarded("expire", this::expire, false);
            Duration untilNext = guarded("schedules", schedules::fireDue, INTERVAL);
            guarded("alerts", alerts::look, false);
            guarded("upkeep", this::upkeep, false);
            outage.worked();
            return moreLost || moreLate ? Duration.ZERO : untilNext.compareTo(INTERVAL) < 0 ? untilNext : INTERVAL;
        } catch (StoreException e) {
            return outage.failed(e);
        }
    }

    /** One piece that fails in an unforeseen way must not keep the others from ever being done. */
    private static <T> T guarded(String piece, Supplier<T> work, T otherwise) {
        try {
            return work.get();
        } catch (StoreException e) {
            throw e;
        } catch (RuntimeException e) {
            log.error("The sweeper's {} failed in an unforeseen way and is tried again", piece, e);
            return otherwise;
        }
    }

    /** Asks the store only when half of the term is over: an idle fleet shall not keep its database busy. */
    private boolean leads() {
        long now = driver.nanos();
        if (leadsUntilNanos - now > term.toNanos() / 2) {
            return true;
        }
        boolean leads = store.lead(LEADER, settings.name(), term);
        leadsUntilNanos = leads ? now + term.toNanos() : now;
        return leads;
    }

    /** Whether this worker led a moment ago and still may: for what is safe even if two believe so. */
    boolean isLeader() {
        return leadsUntilNanos - driver.nanos() > 0;
    }

    void resign() {
        try {
            store.resign(LEADER, settings.name());
        } catch (StoreException e) {
            log.debug("Could not resign; another leads after {}: {}", term, e.getMessage());
        }
    }

    private boolean expire() {
        List<Job> expired = store.expire(JOBS, job -> outbox.after(JobEvent.Kind.FAILED, job, 0));
        for (Job job : expired) {
            log.warn(
                    "Task failed permanently: {} after {} attempts (DEADLINE: it waited too long)",
                    job.id(),
                    job.attempts());
            tallies.expired(job);
            Instant stored = job.times().finishedAt();
            events.happened(JobEvent.Kind.FAILED, job, stored == null ? clock.now() : stored);
        }
        return expired.size() == JOBS;
    }

    private boolean upkeep() {
        if (driver.nanos() - nextUpkeepNanos < 0) {
            return false;
        }
        boolean moreFinished = prune(
                Set.of(JobState.SUCCEEDED, JobState.CANCELLED), settings.keep().finished());
        boolean moreFailed = prune(Set.of(JobState.FAILED), settings.keep().failed());
        store.maintain();
        nextUpkeepNanos = driver.nanos() + (moreFinished || moreFailed ? INTERVAL : UPKEEP).toNanos();
        return true;
    }

    private boolean prune(Set<JobState> states, @Nullable Duration age) {
        return age != null && store.prune(states, age, JOBS) == JOBS;
    }
}
