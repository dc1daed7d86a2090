// SPDX-License-Identifier: Apache-2.0
package io.reprise.internal.settle;

import io.reprise.insight.Alert;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.JobEvent;
import io.reprise.internal.engine.Role;
import io.reprise.store.EventPages;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the events of this process to the store, for streams of other processes. It writes only while somebody
 * listens, and looks every 2 seconds whether somebody does. Many events become one page. What it cannot keep is replaced
 * by a mark, so that readers know that events are missing. {@link Events} adds from any thread; the steps write.
 */
public final class EventRelay implements Role {

    private static final Logger log = LoggerFactory.getLogger("io.reprise");
    private static final Duration LOOK = Duration.ofSeconds(2);
    private static final Duration REST = Duration.ofMillis(50);
    private static final int RESTS_PER_LOOK = 40;
    private static final int MAX_WAITING = 20_000;
    private static final int MAX_EVENTS = 500;
    private static final int MAX_CHARS = 200_000;

    private final EventPages pages;
    private final BlockingQueue<String> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
    private final AtomicBoolean missing = new AtomicBoolean();
    private volatile boolean wanted;

    /** Events that were taken out and are not written yet. */
    private List<String> page = new ArrayList<>();

    private int steps;

    public EventRelay(JobStore store, String writer) {
        this.pages = new EventPages(store, writer);
    }

    @Override
    public String name() {
        return "relay";
    }

    /** Whether somebody listens. */
    boolean isWanted() {
        return wanted;
    }

    void add(JobEvent event) {
        if (wanted) {
            keep(EventText.of(event));
        }
    }

    void add(Alert alert) {
        if (wanted) {
            keep(EventText.of(alert));
        }
    }

    void add(ControlEvent event) {
        if (wanted) {
            keep(EventText.of(event));
        }
    }

    private void keep(String text) {
        if (!waiting.offer(text)) {
            missing.set(true);
        }
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
            while (wanted && !(waiting.isEmpty() && page.isEmpty())) {
                write();
            }
        } catch (StoreException e) {
            log.warn("Events of the last moments are not told to other processes: {}", e.getMessage());
        }
    }

    private void look() {
        boolean now = pages.isHeard();
        if (wanted && !now) {
            waiting.clear();
            page.clear();
            missing.set(false);
            pages.clear();
        }
        wanted = now;
    }

    private void write() {
        if (missing.getAndSet(false)) {
            pages.appendMark();
        }
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
        if (!page.isEmpty()) {
            pages.append(page);
            page = new ArrayList<>();
        }
    }
}
