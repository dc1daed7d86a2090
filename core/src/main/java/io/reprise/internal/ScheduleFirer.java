// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal;

import io.reprise.DuplicateKeyException;
import io.reprise.Job;
import io.reprise.JobId;
import io.reprise.JobSpec;
import io.reprise.Schedule.MissedFire;
import io.reprise.store.Inserted;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import io.reprise.store.StoredSchedule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Fires schedules that are due. Firing and moving on are one step in the store, so nothing fires twice. */
public final class ScheduleFirer {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    /** A firing this late is a missed one. */
    private static final Duration LATE = Duration.ofMinutes(1);

    private static final Duration BUSY = Duration.ofSeconds(1);
    private static final Duration NOTHING_DUE = Duration.ofHours(1);

    private final JobStore store;
    private final Events events;
    private final Runnable onWork;

    public ScheduleFirer(JobStore store, Events events, Runnable onWork) {
        this.store = store;
        this.events = events;
        this.onWork = onWork;
    }

    /** Fires what is due. Returns how long until the next one is due. */
    Duration fireDue() {
        Instant now = store.now();
        Duration wait = NOTHING_DUE;
        for (StoredSchedule schedule : store.schedules()) {
            if (schedule.paused()) {
                continue;
            }
            if (!schedule.nextAt().isAfter(now)) {
                // A firing may leave the next one due as well. One that waits for its last job is looked at again
                // later.
                wait = shorter(wait, fireGuarded(schedule, now) ? Duration.ZERO : BUSY);
            } else {
                wait = shorter(wait, Duration.between(now, schedule.nextAt()));
            }
        }
        return wait;
    }

    /** One schedule that fails in an unforeseen way does not stop those behind it. */
    private boolean fireGuarded(StoredSchedule schedule, Instant now) {
        try {
            return fire(schedule, now);
        } catch (StoreException e) {
            throw e;
        } catch (RuntimeException e) {
            log.error("Schedule {} could not fire and is tried again", schedule.name(), e);
            return false;
        }
    }

    private boolean fire(StoredSchedule schedule, Instant now) {
        ScheduleRule rule;
        try {
            rule = ScheduleRule.parse(schedule.name(), schedule.rule());
        } catch (IllegalArgumentException e) {
            log.error("Schedule {} does not fire: {}", schedule.name(), e.getMessage());
            store.pauseSchedule(schedule.name(), true, new io.reprise.store.Note("reprise", e.getMessage()));
            return true;
        }
        boolean late = schedule.nextAt().plus(LATE).isBefore(now);
        boolean skip = late && rule.missed == MissedFire.SKIP;
        boolean busy = !rule.overlap && isLive(schedule.lastJob());
        if (busy && rule.missed == MissedFire.ALL) {
            return false;
        }
        Instant from = rule.missed == MissedFire.ALL ? schedule.nextAt() : now;
        Instant next = rule.next(schedule.nextAt(), from);
        JobSpec job = schedule.job().toBuilder().schedule(schedule.name()).build();
        List<JobSpec> jobs = skip || busy ? List.of() : List.of(job);
        Optional<List<Inserted>> fired = fire(schedule, next, jobs);
        if (jobs.isEmpty() && fired.isPresent()) {
            log.info(
                    "Schedule {} skipped its firing of {}: {}",
                    schedule.name(),
                    schedule.nextAt(),
                    busy ? "job " + schedule.lastJob() + " is not finished" : "too late");
        }
        fired.ifPresent(inserted -> inserted.stream().filter(Inserted::created).forEach(one -> told(one, job, now)));
        return true;
    }

    /** A job whose unique key is taken is not enqueued, but the schedule moves on all the same. */
    private Optional<List<Inserted>> fire(StoredSchedule schedule, Instant next, List<JobSpec> jobs) {
        try {
            return store.fire(schedule.name(), schedule.nextAt(), next, jobs);
        } catch (DuplicateKeyException e) {
            log.warn("Schedule {} skipped its firing of {}: {}", schedule.name(), schedule.nextAt(), e.getMessage());
            return store.fire(schedule.name(), schedule.nextAt(), next, List.of());
        }
    }

    private static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    private void told(Inserted inserted, JobSpec job, Instant now) {
        events.enqueued(inserted.id(), job, now, inserted.dueAt());
        onWork.run();
    }

    private boolean isLive(@Nullable JobId last) {
        return last != null
                && store.find(last)
                        .map(Job::state)
                        .filter(state -> !state.isTerminal())
                        .isPresent();
    }
}
