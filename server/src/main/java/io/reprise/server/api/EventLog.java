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
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The latest events of this process, numbered, so that a client that was away can go on where it was. Kept in memory: an
 * epoch in each number tells whether it is of this process. Thread-safe.
 */
public final class EventLog implements JobListener {

    private static final int MAX_EVENTS = 10_000;
    private static final String ALERT = "ALERT";

    /** Every kind of event there can be. */
    static final List<String> KINDS = Stream.of(
                    Arrays.stream(JobEvent.Kind.values()).map(Enum::name),
                    Arrays.stream(ControlEvent.Kind.values()).map(Enum::name),
                    Stream.of(ALERT))
            .flatMap(names -> names)
            .toList();

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
        add(ALERT, null, alert.type(), null, null, data);
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

    /**
     * Hears every event from now on, and those after {@code lastId} that are still there.
     *
     * @param missed if events after {@code lastId} are gone, told so before anything else, with an id from which on none is
     * @return ends it
     */
    Runnable subscribe(@Nullable String lastId, Consumer<String> missed, Consumer<Entry> listener) {
        synchronized (this) {
            if (lastId != null) {
                long from = number(lastId);
                long before = entries.isEmpty() ? last : entries.getFirst().number() - 1;
                if (from < before || from > last) {
                    missed.accept(id(before));
                }
                List<Entry> left = new ArrayList<>(entries);
                left.removeIf(entry -> entry.number <= from);
                left.forEach(listener);
            }
            listeners.add(listener);
            return () -> listeners.remove(listener);
        }
    }

    private String id(long number) {
        return epoch + "-" + number;
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
        return "id: " + id(entry.number) + "\nevent: " + entry.kind + "\ndata: " + Json.text(shown) + "\n\n";
    }
}
