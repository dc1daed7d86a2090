// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.events;

import io.reprise.job.WorkerState;
import io.reprise.store.EventPages;
import io.reprise.store.EventPages.EventPage;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the events of other processes into the {@link EventLog}, while a stream is open here. It says in the store that
 * somebody listens, reads the pages that others write, and gives them to the log in the order of their times. Costs
 * nothing while no stream is open. One thread does all of it.
 */
public final class FleetEvents implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final long POLL_MILLIS = 200;
    private static final Duration LISTEN = Duration.ofSeconds(60);
    private static final Duration AGAIN = Duration.ofSeconds(20);
    private static final Duration LOOK = Duration.ofSeconds(2);

    /** How long a number may be without its page. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** A worker that was silent for so long when it went has not said goodbye. */
    private static final Duration SILENT = Duration.ofSeconds(20);

    /** Ids of events name a page that was read so long before: what was read since may not have been told. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    private static final int PAGES = 50;

    private final JobStore store;
    private final EventPages pages;
    private final String name;
    private final EventLog events;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "reprise-fleet-events");
        made.setDaemon(true);
        return made;
    });

    /** When pages were read, and up to which number, oldest first. */
    private final Deque<Map.Entry<Long, Long>> read = new ArrayDeque<>();

    private final Map<String, Instant> seen = new HashMap<>();
    private boolean active;
    private long cursor;
    private long listenedNanos;
    private long lookedNanos;
    private @Nullable Long gapNanos;

    /**
     * Creates the reader.
     *
     * @param name name of this process, whose own pages are left out
     */
    public FleetEvents(JobStore store, String name, EventLog events) {
        this.store = store;
        this.pages = new EventPages(store, name);
        this.name = name;
        this.events = events;
    }

    /** Begins to look for streams. */
    public void start() {
        events.fleet(this);
        Future<?> unused = thread.scheduleWithFixedDelay(this::step, POLL_MILLIS, POLL_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Calls this as soon as the steps allow it. */
    void soon(Runnable work) {
        Future<?> unused = thread.submit(() -> guarded(work));
    }

    private void step() {
        guarded(() -> {
            if (events.hasReaders()) {
                follow();
            } else if (active) {
                active = false;
                seen.clear();
                events.alone(true);
            }
        });
    }

    private static void guarded(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            log.warn("Events of other processes wait: {}", e.toString());
        }
    }

    /** Makes sure that pages are read from now on. */
    void follow() {
        long now = System.nanoTime();
        if (!active) {
            cursor = pages.listen(LISTEN);
            listenedNanos = now;
            gapNanos = null;
            read.clear();
            active = true;
        }
        if (now - listenedNanos > AGAIN.toNanos()) {
            long unused = pages.listen(LISTEN);
            listenedNanos = now;
        }
        if (lookedNanos == 0 || now - lookedNanos > LOOK.toNanos()) {
            look();
            lookedNanos = now;
        }
        List<EventPage> next = pages.read(cursor, PAGES);
        for (EventPage page : next) {
            if (page.number() != cursor + 1 && isPatient(now)) {
                break;
            }
            if (page.number() != cursor + 1) {
                events.missing();
            }
            gapNanos = null;
            cursor = page.number();
            give(page);
        }
        read.addLast(Map.entry(now, cursor));
        while (read.size() > 1 && now - read.getFirst().getKey() > SLACK.toNanos()) {
            read.removeFirst();
        }
        events.release(store.now(), read.getFirst().getValue());
    }

    /** Whether a page that is not there yet is waited for. */
    private boolean isPatient(long now) {
        if (gapNanos == null) {
            gapNanos = now;
        }
        return now - gapNanos < PATIENCE.toNanos();
    }

    private void give(EventPage page) {
        if (page.isMark()) {
            events.missing();
        } else if (!page.writer().equals(name)) {
            page.events().forEach(text -> events.hold(RemoteEvent.parse(text)));
        }
    }

    /** Finds out who else lives. A process that was killed may have had events that nobody wrote. */
    private void look() {
        Instant now = store.now();
        Map<String, Instant> live = new HashMap<>();
        for (WorkerState worker : store.workers()) {
            if (!worker.name().equals(name)) {
                live.put(worker.name(), worker.seenAt());
            }
        }
        boolean killed = seen.entrySet().stream()
                .anyMatch(each -> !live.containsKey(each.getKey())
                        && each.getValue().plus(SILENT).isBefore(now));
        if (killed) {
            events.missing();
        }
        seen.clear();
        seen.putAll(live);
        events.alone(live.isEmpty());
    }

    /**
     * Reads again what came after a page, for a stream that another process began.
     *
     * @param after the page
     * @param reader is told each event
     * @return whether all of it was still there
     */
    boolean again(long after, EventLog.Reader reader) {
        follow();
        long position = after;
        while (position < cursor) {
            List<EventPage> next = pages.read(position, PAGES);
            for (EventPage page : next) {
                if (page.number() != position + 1 || page.isMark() || !reader.isReady()) {
                    return false;
                }
                for (String text : page.events()) {
                    reader.read(events.entry(RemoteEvent.parse(text)));
                }
                position = page.number();
            }
            if (next.isEmpty()) {
                return false;
            }
        }
        return position == cursor;
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
