// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.events.EventPages;
import io.reprise.events.EventPages.EventPage;
import io.reprise.events.EventPages.Pending;
import io.reprise.events.EventPages.Subject;
import io.reprise.insight.Alert;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.JobEvent;
import io.reprise.internal.engine.Role;
import io.reprise.job.JobId;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the events of this process to the store, for streams of the whole fleet. It writes only while somebody listens,
 * and looks every 2 seconds whether somebody does.
 *
 * <p>A caller that changes jobs takes a page first and tells its events into that page, by {@link #reserve} and {@link #tell} or
 * by {@link #around}. All other events wait until the steps write them: many become one page. What it cannot keep is
 * replaced by a mark, so that readers know that events are missing. Thread-safe.
 */
public final class EventRelay implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final Duration LOOK = Duration.ofSeconds(2);
    private static final Duration REST = Duration.ofMillis(50);
    private static final int RESTS_PER_LOOK = 40;
    private static final int MAX_WAITING = 20_000;
    private static final int MAX_EVENTS = 500;

    /** Half of what a page can hold: one half may have waited, the other comes from the change. */
    private static final int MAX_CHARS = 150_000;

    /** An outcome with its failure is several times as long as other events. */
    private static final int SETTLED_PER_PAGE = 100;

    private static final int MAX_OPEN = 100_000;

    /** The pages into which this thread tells. */
    private static final ThreadLocal<@Nullable Open> TELLING = new ThreadLocal<>();

    /** Pages that were taken for changes. They are filled when all of the changes have been told. */
    private static final class Open {
        private final EventRelay owner;
        private final Deque<EventPage> pages = new ArrayDeque<>();
        private final Deque<String> texts = new ArrayDeque<>();
        private int untold;

        Open(EventRelay owner) {
            this.owner = owner;
        }

        synchronized void add(String text) {
            texts.add(text);
        }

        /** Returns whether this was the last. */
        synchronized boolean told() {
            return --untold == 0;
        }
    }

    /** A request for pages. Callers that wait for each other share the pages. */
    private static final class Ticket {
        private final List<Subject> jobs;
        private final int enqueued;
        private @Nullable Open open;

        Ticket(List<Subject> jobs, int enqueued) {
            this.jobs = jobs;
            this.enqueued = enqueued;
        }

        /** Outcomes are told one by one, all other changes at once. */
        int tellings() {
            return jobs.isEmpty() || jobs.get(0).token() == Subject.BY_A_PERSON ? 1 : jobs.size();
        }
    }

    private final JobStore store;
    private final EventPages pages;
    private final BlockingQueue<String> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
    private final AtomicBoolean missing = new AtomicBoolean();
    private final Queue<Ticket> tickets = new ConcurrentLinkedQueue<>();
    private final Map<Subject, Open> taken = new ConcurrentHashMap<>();
    private final Queue<Open> unfilled = new ConcurrentLinkedQueue<>();

    /** Held while events get their numbers, so that two events of this process get them in their order. */
    private final ReentrantLock numbering = new ReentrantLock();

    private volatile boolean wanted;

    /** Events that were taken out and are not written yet. Guarded by {@link #numbering}. */
    private List<String> page = new ArrayList<>();

    private int steps;

    public EventRelay(JobStore store, String writer) {
        this.store = store;
        this.pages = new EventPages(store, writer);
    }

    @Override
    public String name() {
        return "relay";
    }

    /** Whether somebody listens. */
    public boolean isWanted() {
        return wanted;
    }

    /** Returns whether the event will be in a page. */
    boolean add(JobEvent event) {
        return wanted && keep(EventText.of(event));
    }

    boolean add(Alert alert) {
        return wanted && keep(EventText.of(alert));
    }

    boolean add(ControlEvent event) {
        return wanted && keep(EventText.of(event));
    }

    private boolean keep(String text) {
        Open open = TELLING.get();
        if (open != null && open.owner == this) {
            open.add(text);
        } else if (!waiting.offer(text)) {
            missing.set(true);
        }
        return true;
    }

    /** Takes pages for outcomes that are written next. {@link #tell} must follow for each. */
    void reserve(Collection<Subject> outcomes) {
        // Outcomes whose first write failed have their pages already.
        List<Subject> jobs =
                outcomes.stream().filter(job -> !taken.containsKey(job)).toList();
        Open open = jobs.isEmpty() ? null : take(new Ticket(jobs, 0));
        if (open != null) {
            if (taken.size() > MAX_OPEN) {
                taken.clear();
            }
            jobs.forEach(job -> taken.put(job, open));
        }
    }

    /** Tells what became of an outcome, into the page that was taken for it. */
    public void tell(Subject outcome, Runnable tell) {
        Open open = taken.isEmpty() ? null : taken.remove(outcome);
        if (open == null) {
            tell.run();
        } else {
            into(open, tell);
        }
    }

    /**
     * Enqueues jobs and tells it, into a page that was taken before. If the store's answer is lost, the leader finds out
     * what became of it.
     *
     * @param jobs how many jobs at most
     */
    public <T extends @Nullable Object> T around(int jobs, Supplier<T> enqueue, Consumer<T> tell) {
        return around(wanted ? take(new Ticket(List.of(), jobs)) : null, enqueue, tell);
    }

    /** Changes jobs for a person and tells it, as {@link #around(int, Supplier, Consumer)} does. */
    public <T extends @Nullable Object> T around(Collection<JobId> jobs, Supplier<T> change, Consumer<T> tell) {
        List<Subject> subjects =
                jobs.stream().map(job -> new Subject(job, Subject.BY_A_PERSON)).toList();
        return around(wanted ? take(new Ticket(subjects, 0)) : null, change, tell);
    }

    private <T extends @Nullable Object> T around(@Nullable Open open, Supplier<T> change, Consumer<T> tell) {
        T answer;
        try {
            answer = change.get();
        } catch (StoreException e) {
            throw e;
        } catch (RuntimeException e) {
            if (open != null) {
                into(open, () -> {});
            }
            throw e;
        }
        if (open == null) {
            tell.accept(answer);
        } else {
            into(open, () -> tell.accept(answer));
        }
        return answer;
    }

    private void into(Open open, Runnable tell) {
        Open before = TELLING.get();
        TELLING.set(open);
        try {
            tell.run();
        } finally {
            TELLING.set(before);
            if (open.told()) {
                fillOrKeep(open);
            }
        }
    }

    /** Takes pages for this ticket and for all others that wait. Returns null if the store does not answer. */
    private @Nullable Open take(Ticket mine) {
        tickets.add(mine);
        numbering.lock();
        try {
            if (mine.open == null) {
                List<Ticket> all = new ArrayList<>();
                for (Ticket next = tickets.poll(); next != null; next = tickets.poll()) {
                    all.add(next);
                }
                if (all.isEmpty()) {
                    all.add(mine);
                }
                Open open = open(all);
                all.forEach(ticket -> ticket.open = open);
            }
            return mine.open;
        } catch (StoreException e) {
            log.debug("Events are told later: {}", e.getMessage());
            return null;
        } finally {
            numbering.unlock();
        }
    }

    private Open open(List<Ticket> all) {
        List<Subject> jobs =
                all.stream().flatMap(ticket -> ticket.jobs.stream()).toList();
        int enqueued = all.stream().mapToInt(ticket -> ticket.enqueued).sum();
        Open open = new Open(this);
        open.untold = all.stream().mapToInt(Ticket::tellings).sum();
        writeWaiting();
        Pending first = new Pending(store.now(), jobs, enqueued > 0);
        int count = Math.max(1, (jobs.size() + SETTLED_PER_PAGE - 1) / SETTLED_PER_PAGE + enqueued / MAX_EVENTS);
        for (int i = 0; i < count; i++) {
            Pending pending = i == 0 ? first : new Pending(first.since(), List.of(), false);
            open.pages.add(pages.reserve(i == 0 ? page : List.of(), pending));
            page = i == 0 ? new ArrayList<>() : page;
        }
        return open;
    }

    private void fillOrKeep(Open open) {
        try {
            fill(open);
        } catch (StoreException e) {
            log.debug("Events wait for the store: {}", e.getMessage());
            unfilled.add(open);
        }
    }

    /** Fills the pages in turn. What does not fit, and what somebody else filled meanwhile, becomes a page of its own. */
    private void fill(Open open) {
        synchronized (open) {
            while (wanted && !(open.pages.isEmpty() && open.texts.isEmpty())) {
                List<String> part = part(open.texts);
                EventPage next = open.pages.peek();
                if (next == null) {
                    pages.append(part);
                } else {
                    List<String> events = new ArrayList<>(next.events());
                    events.addAll(part);
                    if (!pages.fill(next, events) && !part.isEmpty()) {
                        pages.append(part);
                    }
                    open.pages.remove();
                }
                part.forEach(text -> open.texts.remove());
            }
        }
    }

    /** Returns the first events of the rest that fit into a page. */
    private List<String> part(Deque<String> texts) {
        List<String> part = new ArrayList<>();
        int chars = 0;
        for (String text : List.copyOf(texts)) {
            chars += text.length();
            if (part.size() == MAX_EVENTS || (chars > MAX_CHARS && !part.isEmpty())) {
                return part;
            }
            if (text.length() > MAX_CHARS) {
                texts.remove();
                missing.set(true);
                return part;
            }
            part.add(text);
        }
        return part;
    }

    @Override
    public Duration step() {
        try {
            if (steps++ % RESTS_PER_LOOK == 0 || !wanted) {
                look();
            }
            if (!wanted) {
                return LOOK;
            }
            write();
            return waiting.isEmpty() ? REST : Duration.ZERO;
        } catch (StoreException e) {
            log.debug("Events wait for the store: {}", e.getMessage());
            return LOOK;
        }
    }

    /** Writes what still waits. Called once, after the last step. */
    public void finish() {
        try {
            while (wanted && !(waiting.isEmpty() && page.isEmpty() && unfilled.isEmpty())) {
                write();
            }
        } catch (StoreException e) {
            log.warn("Events of the last moments are not told to other processes: {}", e.getMessage());
        }
    }

    /** Looks whether somebody listens. A process without steps calls it now and then. */
    public void look() {
        boolean now = pages.isHeard();
        if (wanted && !now) {
            wanted = false;
            numbering.lock();
            try {
                waiting.clear();
                page.clear();
                taken.clear();
                unfilled.clear();
                missing.set(false);
            } finally {
                numbering.unlock();
            }
            pages.clear();
        }
        wanted = now;
    }

    private void write() {
        Open open = unfilled.peek();
        if (open != null) {
            fill(open);
            unfilled.remove(open);
        }
        numbering.lock();
        try {
            if (missing.getAndSet(false)) {
                pages.appendMark();
            }
            gather();
            if (!page.isEmpty()) {
                pages.append(page);
                page = new ArrayList<>();
            }
        } finally {
            numbering.unlock();
        }
    }

    /** Writes what waits, but for one page, which goes into the page that is taken next. */
    private void writeWaiting() {
        gather();
        while (!waiting.isEmpty()) {
            if (!page.isEmpty()) {
                pages.append(page);
                page = new ArrayList<>();
            }
            gather();
        }
    }

    private void gather() {
        if (page.isEmpty()) {
            int chars = 0;
            String next = waiting.peek();
            while (next != null && page.size() < MAX_EVENTS && chars + next.length() <= MAX_CHARS) {
                page.add(waiting.remove());
                chars += next.length();
                next = waiting.peek();
            }
            if (page.isEmpty() && next != null) {
                waiting.remove();
                missing.set(true);
            }
        }
    }
}
