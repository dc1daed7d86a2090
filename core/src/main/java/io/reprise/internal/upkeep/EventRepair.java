// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.upkeep;

import io.reprise.events.EventPages;
import io.reprise.events.EventPages.EventPage;
import io.reprise.events.EventPages.Pending;
import io.reprise.events.EventPages.Subject;
import io.reprise.internal.engine.EngineParts;
import io.reprise.internal.settle.EventRelay;
import io.reprise.internal.settle.StoredEvents;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.Page;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fills the pages of events that a dead process left open, from the stored history. One piece of the leader's upkeep.
 * Nothing is read while nobody listens.
 */
public final class EventRepair implements UpkeepRole.Piece {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    /** How long a page is left to a process that is not known to live. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** How long a page is left to a process that lives. */
    private static final Duration LONGEST = Duration.ofMinutes(1);

    /** Workers report every 10 seconds. One that was silent for so long is gone. */
    private static final Duration SILENT = Duration.ofSeconds(25);

    private static final int PAGES = 50;

    /** Pages that may hold the event of a job which was enqueued at the same time. */
    private static final int NEAR = 100;

    private static final int MAX_PAGES = 10;
    private static final int AUDITED = 10;
    private static final int MAX_EVENTS = 300;

    private final JobStore store;
    private final EventRelay relay;
    private final EventPages pages;

    /** The last page that needed nothing; -1 at the beginning. */
    private long checked = -1;

    private @Nullable Instant holeSince;

    public EventRepair(EngineParts parts) {
        this.store = parts.store();
        this.relay = parts.events().relay();
        this.pages = new EventPages(store, parts.settings().name());
    }

    @Override
    public String name() {
        return "event-repair";
    }

    @Override
    public Duration work() {
        if (!relay.isWanted()) {
            checked = -1;
            holeSince = null;
            return INTERVAL.multipliedBy(2);
        }
        List<EventPage> next = pages.read(Math.max(0, checked), PAGES);
        Instant now = store.now();
        for (EventPage page : next) {
            boolean gone = page.number() > checked + EventPages.KEPT / 2;
            if (checked >= 0 && page.number() != checked + 1 && !gone) {
                return overHole(now);
            }
            Pending pending = page.pending();
            if (pending != null) {
                if (isAwaited(page, pending, now)) {
                    return INTERVAL;
                }
                repair(page, pending);
            }
            checked = page.number();
            holeSince = null;
        }
        return next.size() == PAGES ? Duration.ZERO : INTERVAL;
    }

    /** A process took a number and died before it wrote the page, or is about to write it. */
    private Duration overHole(Instant now) {
        if (holeSince == null) {
            holeSince = now;
        }
        if (now.isBefore(holeSince.plus(PATIENCE))) {
            return INTERVAL;
        }
        pages.giveUp(checked + 1);
        holeSince = null;
        return Duration.ZERO;
    }

    private boolean isAwaited(EventPage page, Pending pending, Instant now) {
        boolean settles = pending.jobs().stream().anyMatch(job -> job.token() != Subject.BY_A_PERSON);
        boolean live = settles
                && store.workers().stream()
                        .anyMatch(worker -> worker.name().equals(page.writer())
                                && worker.seenAt().plus(SILENT).isAfter(now));
        return now.isBefore(pending.since().plus(live ? LONGEST : PATIENCE));
    }

    private void repair(EventPage page, Pending pending) {
        List<String> found = new ArrayList<>();
        if (pending.enqueues()) {
            found.addAll(enqueued(page, pending));
        }
        for (Subject job : pending.jobs()) {
            found.addAll(job.token() == Subject.BY_A_PERSON ? changed(job, pending.since()) : settled(job));
        }
        int first = Math.min(found.size(), MAX_EVENTS);
        List<String> events = new ArrayList<>(page.events());
        events.addAll(found.subList(0, first));
        // If its process filled the page meanwhile, there is nothing to do.
        if (pages.fill(page, events)) {
            log.info("Told {} events that worker {} could not tell", found.size(), page.writer());
            for (int i = first; i < found.size(); i += MAX_EVENTS) {
                pages.append(found.subList(i, Math.min(found.size(), i + MAX_EVENTS)));
            }
        }
    }

    private List<String> settled(Subject subject) {
        Attempt stored = store.attempts(subject.job()).stream()
                .filter(attempt -> attempt.token() == subject.token())
                .findFirst()
                .orElse(null);
        Job job = stored == null ? null : store.find(subject.job()).orElse(null);
        return stored == null || job == null ? List.of() : StoredEvents.settled(job, stored);
    }

    /** Looks for the change of a person in the audit log. */
    private List<String> changed(Subject subject, Instant since) {
        Job job = store.find(subject.job()).orElse(null);
        if (job == null) {
            return List.of();
        }
        boolean done = store.audit(job.id(), AUDITED).stream()
                .anyMatch(entry -> !entry.at().isBefore(since));
        return done ? List.of(StoredEvents.changed(job)) : List.of();
    }

    /** Jobs that were enqueued since the page was taken, and that no page near it names. */
    private List<String> enqueued(EventPage page, Pending pending) {
        Set<String> told = new HashSet<>();
        long after = Math.max(0, page.number() - NEAR);
        List<EventPage> near = pages.read(after, NEAR);
        while (!near.isEmpty()) {
            near.forEach(each -> each.events().stream()
                    .map(StoredEvents::enqueuedId)
                    .filter(Objects::nonNull)
                    .forEach(told::add));
            near = pages.read(near.get(near.size() - 1).number(), NEAR);
        }
        List<Job> jobs = new ArrayList<>();
        JobQuery query = JobQuery.all().brief().createdFrom(pending.since()).limit(JobQuery.MAX_LIMIT);
        String cursor = null;
        for (int i = 0; i < MAX_PAGES; i++) {
            Page<Job> some = store.find(query.after(cursor));
            jobs.addAll(some.items());
            cursor = some.next();
            if (cursor == null || some.items().isEmpty()) {
                break;
            }
        }
        return jobs.stream()
                .filter(job -> !told.contains(job.id().toString()))
                .sorted(Comparator.comparing(Job::id))
                .map(StoredEvents::enqueued)
                .toList();
    }
}
