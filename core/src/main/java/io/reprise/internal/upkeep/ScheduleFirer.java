// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.Schedule.MissedFire;
import io.reprise.internal.control.EnqueueCeilings;
import io.reprise.internal.engine.Engine;
import io.reprise.internal.settle.Events;
import io.reprise.job.AuditNote;
import io.reprise.job.DuplicateKeyException;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.StoredSchedule;
import io.reprise.settings.CeilingException;
import io.reprise.store.Firing;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires due schedules, page by page. One piece of the leader's upkeep. {@code JobStore.fireAll} enqueues the job and
 * moves the schedule on in one transaction, so no firing happens twice.
 */
public final class ScheduleFirer implements UpkeepRole.Piece {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");

    /** A firing this late counts as missed. */
    private static final Duration LATE = Duration.ofMinutes(1);

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** Schedules that fire in one transaction. */
    private static final int BATCH = 100;

    private final JobStore store;
    private final Events events;
    private final Predicate<JobSpec> mayFire;
    private final EnqueueCeilings ceilings;
    private final Runnable onWork;

    /** Last schedule of the previous page; null at the beginning of a round. */
    private @Nullable StoredSchedule after;

    /** Whether a schedule has moved in this round. */
    private boolean again;

    public ScheduleFirer(JobStore store, Engine.Config config, Runnable onWork) {
        this.store = store;
        this.events = config.events();
        this.mayFire = config.mayFire();
        this.ceilings = config.ceilings();
        this.onWork = onWork;
    }

    @Override
    public String name() {
        return "scheduler";
    }

    /** Fires one page of due schedules. The next page follows at once. */
    @Override
    public Duration work() {
        Instant now = store.now();
        List<StoredSchedule> due = store.dueSchedules(BATCH, after);
        boolean moved = !due.isEmpty() && fire(due, now);
        boolean more = due.size() == BATCH;
        after = more ? due.get(BATCH - 1) : null;
        again |= moved;
        if (more) {
            return Duration.ZERO;
        }
        // After a firing the next one may be due too, so the round begins again. A schedule that waits for its last
        // job is tried again later.
        boolean soon = again;
        again = false;
        return soon ? Duration.ZERO : untilNext(now);
    }

    private Duration untilNext(Instant now) {
        Duration wait =
                store.nextFiring().map(next -> Duration.between(now, next)).orElse(INTERVAL);
        return wait.isNegative() || wait.compareTo(INTERVAL) < 0 ? wait : INTERVAL;
    }

    /** The next firing of a schedule, with the reason if it enqueues no job. */
    private record Plan(Firing firing, @Nullable String skipped) {}

    /** Returns whether a schedule moved. */
    private boolean fire(List<StoredSchedule> due, Instant now) {
        Set<JobId> live = store.live(due.stream()
                .map(StoredSchedule::lastJob)
                .filter(Objects::nonNull)
                .toList());
        List<Plan> plans = new ArrayList<>();
        List<Countdown> countdowns = new ArrayList<>();
        for (StoredSchedule schedule : due) {
            ScheduleRule rule = schedule.paused() ? null : rule(schedule);
            if (rule != null && rule.timing().fixedDelay() != null && schedule.lastJob() != null) {
                countdowns.add(new Countdown(schedule, rule, schedule.lastJob()));
            } else if (rule != null) {
                plans.add(plan(schedule, rule, live, now));
            }
        }
        plans.addAll(afterTheirJobs(countdowns, live, now));
        plans.removeIf(Objects::isNull);
        if (plans.isEmpty()) {
            return false;
        }
        AtomicBoolean moved = new AtomicBoolean();
        List<Optional<List<Enqueued>>> unused = events.relay().around(plans.size(), () -> fireAll(plans), fired -> {
            for (int i = 0; i < plans.size(); i++) {
                boolean went = fired == null ? fireGuarded(plans.get(i), now) : told(plans.get(i), fired.get(i), now);
                moved.compareAndSet(false, went);
            }
        });
        onWork.run();
        return moved.get();
    }

    /** Returns null if the store refused one of them, so that none fired. */
    private @Nullable List<Optional<List<Enqueued>>> fireAll(List<Plan> plans) {
        try {
            return store.fireAll(plans.stream().map(Plan::firing).toList());
        } catch (RuntimeException e) {
            if (e instanceof StoreException trouble && trouble.isTransient()) {
                throw e;
            }
            return null;
        }
    }

    /** Fires one schedule. If the store refuses it, the schedules behind it still fire. */
    private boolean fireGuarded(Plan plan, Instant now) {
        try {
            return fireAlone(plan, now);
        } catch (RuntimeException e) {
            if (e instanceof StoreException trouble && trouble.isTransient()) {
                throw e;
            }
            log.error("Schedule {} could not fire and is tried again", plan.firing.schedule(), e);
            return false;
        }
    }

    /** If the job's unique key is taken, the schedule moves on without a job. */
    private boolean fireAlone(Plan plan, Instant now) {
        try {
            return told(plan, store.fireAll(List.of(plan.firing)).get(0), now);
        } catch (DuplicateKeyException e) {
            Firing without = new Firing(plan.firing.schedule(), plan.firing.dueAt(), plan.firing.nextAt(), List.of());
            return told(
                    new Plan(without, e.getMessage()),
                    store.fireAll(List.of(without)).get(0),
                    now);
        }
    }

    /** Returns null for a schedule that cannot be read. It is paused, and the schedules behind it fire. */
    private @Nullable ScheduleRule rule(StoredSchedule schedule) {
        try {
            return ScheduleRule.parse(schedule.name(), schedule.rule());
        } catch (IllegalArgumentException e) {
            log.error("Schedule {} does not fire: {}", schedule.name(), e.getMessage());
            store.pauseSchedule(schedule.name(), true, new AuditNote("reprise", e.getMessage()));
            return null;
        }
    }

    /** A schedule with a fixed delay, and the job from whose end it counts. */
    private record Countdown(StoredSchedule schedule, ScheduleRule rule, JobId last) {}

    /**
     * Plans schedules that count from the end of their last job. A schedule whose job goes on moves by its delay: the
     * next firing cannot be earlier. So it is looked at once per delay, however long the job takes.
     */
    private List<@Nullable Plan> afterTheirJobs(List<Countdown> countdowns, Set<JobId> live, Instant now) {
        Map<JobId, Instant> ends = new HashMap<>();
        List<JobId> ended = countdowns.stream()
                .map(Countdown::last)
                .filter(id -> !live.contains(id))
                .toList();
        if (!ended.isEmpty()) {
            for (Job job : store.findAll(ended)) {
                ends.put(job.id(), Objects.requireNonNullElse(job.times().finishedAt(), now));
            }
        }
        List<@Nullable Plan> plans = new ArrayList<>();
        for (Countdown each : countdowns) {
            Instant dueAt = each.schedule.nextAt();
            Instant from = now.isBefore(dueAt) ? dueAt : now;
            Instant counted = live.contains(each.last) ? from : ends.getOrDefault(each.last, Instant.EPOCH);
            Instant next = each.rule.next(counted, counted);
            plans.add(
                    next.isAfter(from)
                            ? new Plan(new Firing(each.schedule.name(), dueAt, next, List.of()), null)
                            : plan(each.schedule, each.rule, live, now));
        }
        return plans;
    }

    /** Plans one firing. Whatever a rule of the application throws, the schedules behind this one fire. */
    private @Nullable Plan plan(StoredSchedule schedule, ScheduleRule rule, Set<JobId> live, Instant now) {
        try {
            return planned(schedule, rule, live, now);
        } catch (StoreException e) {
            throw e;
        } catch (RuntimeException e) {
            log.error("Schedule {} could not fire and is tried again", schedule.name(), e);
            return null;
        }
    }

    private @Nullable Plan planned(StoredSchedule schedule, ScheduleRule rule, Set<JobId> live, Instant now) {
        MissedFire missed = rule.timing().missed();
        boolean late = schedule.nextAt().plus(LATE).isBefore(now);
        JobId last = schedule.lastJob();
        boolean busy = !rule.timing().overlap() && last != null && live.contains(last);
        if (busy && missed == MissedFire.ALL) {
            return null;
        }
        String skipped = busy ? "job " + last + " is not finished" : null;
        if (late && missed == MissedFire.SKIP) {
            skipped = "too late";
        }
        Instant end = rule.timing().span().end();
        if (late && end != null && now.isAfter(end) && missed != MissedFire.ALL) {
            skipped = "its end has passed";
        }
        // The time may have been read before the schedule was due. The next firing must still be later than this one.
        boolean early = now.isBefore(schedule.nextAt());
        Instant from = early || missed == MissedFire.ALL ? schedule.nextAt() : now;
        Instant next = rule.next(schedule.nextAt(), from);
        JobSpec.Builder spec = schedule.job().toBuilder().schedule(schedule.name());
        Duration jitter = rule.jitter(schedule.name(), schedule.nextAt());
        JobSpec job = jitter.isZero() || schedule.job().dueAt() != null
                ? spec.build()
                : spec.delay(schedule.job().delay().plus(jitter)).build();
        if (skipped == null && !mayFire.test(job)) {
            skipped = "a rule of the application refused it";
        }
        if (skipped == null && isFull(job)) {
            if (missed == MissedFire.ALL) {
                return null;
            }
            skipped = "queue " + job.queue() + " is full";
        }
        List<JobSpec> jobs = skipped == null ? List.of(job) : List.of();
        return new Plan(new Firing(schedule.name(), schedule.nextAt(), next, jobs), skipped);
    }

    private boolean isFull(JobSpec job) {
        try {
            ceilings.requireRoom(job.queue(), 1);
            return false;
        } catch (CeilingException e) {
            return true;
        }
    }

    /** Returns whether the schedule moved. */
    private boolean told(Plan plan, Optional<List<Enqueued>> fired, Instant now) {
        if (fired.isEmpty()) {
            return false;
        }
        if (plan.skipped != null) {
            log.info(
                    "Schedule {} skipped its firing of {}: {}",
                    plan.firing.schedule(),
                    plan.firing.dueAt(),
                    plan.skipped);
        }
        List<JobSpec> jobs = plan.firing.jobs();
        for (int i = 0; i < jobs.size(); i++) {
            Enqueued inserted = fired.get().get(i);
            if (inserted.created()) {
                events.enqueued(inserted.id(), jobs.get(i), now, inserted.dueAt());
            }
        }
        return true;
    }
}
