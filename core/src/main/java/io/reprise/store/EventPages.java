// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.text.JsonReader;
import io.reprise.text.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Events of the whole fleet, in pages that processes write while somebody listens. Pages have consecutive numbers, and
 * each is a document. At most {@value #KEPT} are kept. A writer takes the next number and then writes the page, so a
 * reader that meets a number without a page waits for it a little. Nothing is written while nobody listens. Thread-safe.
 *
 * @since 0.1.0
 */
public final class EventPages {

    /** Pages that are kept. */
    public static final int KEPT = 2_000;

    private static final String PAGE = "event-page";
    private static final String HEAD = "event-head";
    private static final String LISTENER = "event-listener";
    private static final int MAX_LISTENERS = 1_000;
    private static final int MAX_TRIES = 1_000;

    /**
     * A page.
     *
     * @param number number of the page
     * @param writer name of the process that wrote it
     * @param events JSON objects; empty for a mark that says that events are missing
     * @since 0.1.0
     */
    public record EventPage(long number, String writer, List<String> events) {
        /** Copies the list. */
        public EventPage {
            events = List.copyOf(events);
        }

        /** Returns whether the page says that events before it are missing. */
        public boolean isMark() {
            return events.isEmpty();
        }
    }

    private final JobStore store;
    private final String writer;

    /**
     * Creates pages on a store.
     *
     * @param writer name of this process
     */
    public EventPages(JobStore store, String writer) {
        this.store = store;
        this.writer = writer;
    }

    private static String id(long number) {
        return String.format(Locale.ROOT, "%019d", number);
    }

    /** Returns whether somebody listens. */
    public boolean isHeard() {
        List<Document> listeners =
                store.documents(LISTENER, MAX_LISTENERS, null).items();
        if (listeners.isEmpty()) {
            return false;
        }
        Instant now = store.now();
        return listeners.stream().anyMatch(each -> until(each).isAfter(now));
    }

    /**
     * Says that this process listens. The first listener writes a mark, because events before it are not kept.
     *
     * @param duration how long, unless it is said again
     * @return number of the newest page from before others could know of this listener; what follows it is to be read
     */
    public long listen(Duration duration) {
        if (!isHeard()) {
            appendMark();
        }
        long before = last();
        String until = JsonText.write(Map.of("until", store.now().plus(duration).toString()));
        Optional<Document> own = store.document(LISTENER, writer);
        OptionalLong unused = store.putDocument(
                new Document(LISTENER, writer, own.map(Document::version).orElse(0L), until));
        Instant now = store.now();
        for (Document each : store.documents(LISTENER, MAX_LISTENERS, null).items()) {
            if (!until(each).isAfter(now)) {
                boolean unusedToo = store.removeDocument(each);
            }
        }
        return before;
    }

    /** Returns the number of the newest page; 0 if there was none. */
    public long last() {
        return store.document(HEAD, HEAD).map(EventPages::last).orElse(0L);
    }

    private static long last(Document head) {
        return Long.parseLong(field(head.json(), "last"));
    }

    private static String field(String json, String name) {
        return JsonReader.read(json) instanceof Map<?, ?> members ? String.valueOf(members.get(name)) : "";
    }

    /** Returns until when it listens; a text that cannot be read has ended. */
    private static Instant until(Document listener) {
        try {
            return Instant.parse(field(listener.json(), "until"));
        } catch (RuntimeException e) {
            return Instant.MIN;
        }
    }

    /** Writes that events are missing. */
    public void appendMark() {
        append(List.of());
    }

    /**
     * Writes a page.
     *
     * @param events JSON objects
     */
    public void append(List<String> events) {
        long number = next();
        StringBuilder json =
                new StringBuilder("{\"by\":").append(JsonText.write(writer)).append(",\"events\":[");
        json.append(String.join(",", events.stream().map(JsonText::write).toList()))
                .append("]}");
        OptionalLong unused = store.putDocument(new Document(PAGE, id(number), 0, json.toString()));
        if (number > KEPT) {
            store.document(PAGE, id(number - KEPT)).ifPresent(store::removeDocument);
        }
    }

    /** Takes the next number. Only one process gets it. */
    private long next() {
        for (int i = 0; i < MAX_TRIES; i++) {
            Optional<Document> head = store.document(HEAD, HEAD);
            long number = head.map(EventPages::last).orElse(0L) + 1;
            String json = JsonText.write(Map.of("last", Long.toString(number)));
            long version = head.map(Document::version).orElse(0L);
            if (store.putDocument(new Document(HEAD, HEAD, version, json)).isPresent()) {
                return number;
            }
        }
        throw new StoreException(
                "Too many processes write events at once", new IllegalStateException("event-head"), true);
    }

    /**
     * Returns pages by number, as far as they are stored.
     *
     * @param after returns pages with greater numbers only
     * @param limit how many at most
     */
    public List<EventPage> read(long after, int limit) {
        List<EventPage> pages = new ArrayList<>();
        for (Document document : store.documents(PAGE, limit, id(after)).items()) {
            pages.add(page(document));
        }
        return pages;
    }

    private static EventPage page(Document document) {
        List<String> events = new ArrayList<>();
        if (JsonReader.read(document.json()) instanceof Map<?, ?> page && page.get("events") instanceof List<?> texts) {
            texts.forEach(text -> events.add(String.valueOf(text)));
        }
        return new EventPage(Long.parseLong(document.id()), field(document.json(), "by"), events);
    }

    /** Deletes all pages, because nobody listens. The numbers go on. */
    public void clear() {
        List<Document> pages = store.documents(PAGE, MAX_LISTENERS, null).items();
        while (!pages.isEmpty()) {
            pages.forEach(store::removeDocument);
            pages = store.documents(PAGE, MAX_LISTENERS, null).items();
        }
    }
}
