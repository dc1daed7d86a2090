// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Alert;
import io.reprise.ControlEvent;
import io.reprise.JobEvent;
import io.reprise.JobListener;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Json;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The latest events of this process, numbered, so that a client that was away can go on where it was. Kept in memory: an
 * epoch in each number tells whether it is of this process. Thread-safe.
 */
public final class EventLog implements JobListener {

    private static final int MAX_EVENTS = 10_000;

    /**
     * An event as it is sent.
     *
     * @param queue of the job; null if it is not about one
     * @param resource stored name
     */
    record Entry(
            long number,
            String kind,
            @Nullable String job,
            @Nullable String type,
            @Nullable String queue,
            @Nullable String resource,
            Map<String, @Nullable Object> data) {}

    private final String epoch;
    private final Deque<Entry> entries = new ArrayDeque<>();
    private final List<Consumer<Entry>> listeners = new CopyOnWriteArrayList<>();
    private long last;

    public EventLog(long startedMillis) {
        this.epoch = Long.toString(startedMillis, Character.MAX_RADIX);
    }

    @Override
    public void onEvent(JobEvent event) {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("kind", event.kind());
        data.put("id", event.id().toString());
        data.put("type", event.type());
        data.put("queue", event.queue());
        data.put("resource", event.resource());
        data.put("attempt", event.attempt());
        data.put("at", event.at());
        data.put("dueAt", event.dueAt());
        data.put("ran", Views.duration(event.ran()));
        data.put("failure", Views.failure(event.failure()));
        data.put("decision", Views.decision(event.decision()));
        add(event.kind().name(), event.id().toString(), event.type(), event.queue(), event.resource(), data);
    }

    @Override
    public void onAlert(Alert alert) {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("kind", alert.kind());
        data.put("type", alert.type());
        data.put("raised", alert.isRaised());
        data.put("message", alert.message());
        add("ALERT", null, alert.type(), null, null, data);
    }

    @Override
    public void onControl(ControlEvent event) {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("kind", event.kind());
        data.put("subject", event.subject());
        data.put("at", event.at());
        data.put("why", event.why());
        add(event.kind().name(), null, null, null, event.subject(), data);
    }

    /** Anything else that those who watch should know; a name is of a kind of its own. */
    public void tell(String kind, @Nullable String queue, Map<String, @Nullable Object> data) {
        add(kind, null, null, queue, null, data);
    }

    private void add(
            String kind,
            @Nullable String job,
            @Nullable String type,
            @Nullable String queue,
            @Nullable String resource,
            Map<String, @Nullable Object> data) {
        Entry entry;
        synchronized (this) {
            entry = new Entry(++last, kind, job, type, queue, resource, data);
            entries.addLast(entry);
            if (entries.size() > MAX_EVENTS) {
                entries.removeFirst();
            }
            // Within the lock, so that everyone hears them in order; no listener waits for anything.
            listeners.forEach(listener -> listener.accept(entry));
        }
    }

    /** Hears every event from now on, and those after {@code lastId} that are still there. */
    Subscription subscribe(@Nullable String lastId, Consumer<Entry> listener) {
        synchronized (this) {
            boolean complete = true;
            if (lastId != null) {
                long from = number(lastId);
                long first = entries.isEmpty() ? last + 1 : entries.getFirst().number();
                complete = from >= first - 1 && from <= last;
                List<Entry> missed = new ArrayList<>(entries);
                missed.removeIf(entry -> entry.number <= from);
                missed.forEach(listener);
            }
            listeners.add(listener);
            return new Subscription(complete, () -> listeners.remove(listener));
        }
    }

    /**
     * A listener that was added.
     *
     * @param complete false if events were missed that are gone
     */
    record Subscription(boolean complete, Runnable end) {}

    String id(Entry entry) {
        return epoch + "-" + entry.number;
    }

    /** -1 if it is not of this process. */
    private long number(String id) {
        int dash = id.indexOf('-');
        if (dash < 0 || !id.substring(0, dash).equals(epoch)) {
            return -1;
        }
        try {
            return Long.parseLong(id.substring(dash + 1));
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    String text(Entry entry, Tenancy tenancy) {
        Map<String, @Nullable Object> shown = new LinkedHashMap<>(entry.data);
        shown.computeIfPresent("queue", (key, name) -> tenancy.shown(name.toString()));
        shown.computeIfPresent("resource", (key, name) -> tenancy.shown(name.toString()));
        shown.computeIfPresent("subject", (key, name) -> tenancy.shown(name.toString()));
        return "id: " + id(entry) + "\nevent: " + entry.kind + "\ndata: " + Json.text(shown) + "\n\n";
    }
}
