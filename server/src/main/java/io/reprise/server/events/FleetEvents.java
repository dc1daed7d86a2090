// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.events;

import io.reprise.events.EventPages;
import io.reprise.events.EventPages.EventPage;
import io.reprise.store.JobStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the events of all processes into the {@link EventLog}, while a stream is open here. It says in the store that
 * somebody listens, and reads the pages in the order of their numbers. It waits for a page that was taken and is not
 * filled yet: what follows from its events has greater numbers. Costs nothing while no stream is open. One thread does
 * all of it.
 */
public final class FleetEvents implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final long POLL_MILLIS = 100;
    private static final Duration LISTEN = Duration.ofSeconds(60);
    private static final Duration AGAIN = Duration.ofSeconds(20);

    /** Processes look every 2 seconds whether somebody listens. */
    private static final Duration HEARD = Duration.ofMillis(2_500);

    /** How long pages are read on after the last stream ended: a client that comes back misses nothing. */
    private static final Duration LINGER = Duration.ofSeconds(30);

    /** The leader fills a page of a dead process sooner than this. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

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

    private boolean active;
    private long cursor;
    private long listenedNanos;
    private long readNanos;
    private long completeNanos;
    private @Nullable Long waitNanos;

    /**
     * Creates the reader.
     *
     * @param name name of this process
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

    /** Calls this when all processes that live know that somebody listens. */
    void whenComplete(Runnable ready) {
        Future<?> unused = thread.submit(() -> {
            guarded(this::follow);
            long left = completeNanos - System.nanoTime();
            if (active && left > 0) {
                Future<?> unusedToo = thread.schedule(ready, left, TimeUnit.NANOSECONDS);
            } else {
                ready.run();
            }
        });
    }

    private void step() {
        guarded(() -> {
            long now = System.nanoTime();
            if (events.hasReaders()) {
                readNanos = now;
                follow();
            } else if (active && now - readNanos < LINGER.toNanos()) {
                read(now);
            } else if (active) {
                active = false;
                events.follows(false);
            }
        });
    }

    private static void guarded(Runnable work) {
        try {
            work.run();
        } catch (Throwable e) { // Even an Error: a step that throws would be the last one.
            log.warn("Events of other processes wait: {}", e.toString());
        }
    }

    /** Makes sure that pages are read from now on. */
    void follow() {
        long now = System.nanoTime();
        if (!active) {
            boolean known = pages.isHeard() || isAlone();
            cursor = pages.listen(LISTEN);
            listenedNanos = now;
            readNanos = now;
            completeNanos = known ? now : now + HEARD.toNanos();
            waitNanos = null;
            active = true;
            events.follows(true);
        }
        if (now - listenedNanos > AGAIN.toNanos()) {
            long unused = pages.listen(LISTEN);
            listenedNanos = now;
        }
        read(now);
    }

    private boolean isAlone() {
        return store.workers().stream().allMatch(worker -> worker.name().equals(name));
    }

    private void read(long now) {
        List<EventPage> next = pages.read(cursor, PAGES);
        while (!next.isEmpty()) {
            for (EventPage page : next) {
                boolean hole = page.number() != cursor + 1;
                boolean comes = hole ? !isDeleted(cursor + 1) : page.pending() != null;
                if (comes && isPatient(now)) {
                    return;
                }
                if (hole || page.pending() != null) {
                    events.missing();
                }
                waitNanos = null;
                cursor = page.number();
                give(page);
            }
            next = next.size() < PAGES ? List.of() : pages.read(cursor, PAGES);
        }
    }

    /** Whether a page was deleted because of its age. This process may have stood still for long. */
    private boolean isDeleted(long number) {
        return number <= pages.last() - EventPages.KEPT;
    }

    /** Whether a page that is not there yet is waited for. */
    private boolean isPatient(long now) {
        if (waitNanos == null) {
            waitNanos = now;
        }
        return now - waitNanos < PATIENCE.toNanos();
    }

    private void give(EventPage page) {
        if (page.isMark()) {
            events.missing();
        }
        List<String> texts = page.events();
        for (int i = 0; i < texts.size(); i++) {
            // Who has seen only a part of a page begins again with the page.
            boolean last = i == texts.size() - 1;
            events.add(RemoteEvent.parse(texts.get(i)), last ? page.number() : page.number() - 1);
        }
    }

    /**
     * Reads again what came after a page, for a stream that another process began.
     *
     * @param after the page
     * @param reader is told each event
     * @return the number of the last event of the log that was told; -1 if not all of it was still there
     */
    long again(long after, EventLog.Reader reader) {
        follow();
        long told = events.last();
        long position = after;
        while (position < cursor) {
            List<EventPage> next = pages.read(position, PAGES);
            for (EventPage page : next) {
                if (page.number() != position + 1 || page.isMark() || !reader.isReady()) {
                    return -1;
                }
                if (page.number() > cursor) {
                    return told;
                }
                for (String text : page.events()) {
                    reader.read(events.entry(RemoteEvent.parse(text), page.number() - 1));
                }
                position = page.number();
            }
            if (next.isEmpty()) {
                return -1;
            }
        }
        return position == cursor ? told : -1;
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
