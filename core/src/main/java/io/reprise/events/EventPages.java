// SPDX-License-Identifier: Apache-2.0
package io.reprise.events;

import io.reprise.job.JobId;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.store.Micros;
import io.reprise.store.StoreException;
import io.reprise.text.JsonReader;
import io.reprise.text.JsonText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Events of the whole fleet, in pages that processes write while somebody listens. Pages have consecutive numbers, and
 * each is a document. At most {@value #KEPT} are kept. Nothing is written while nobody listens.
 *
 * <p>A process takes the number of a page before it changes jobs, and fills the page afterwards. What follows from the
 * change has a greater number, in whatever process it happens. So the order of the numbers is the order of the events of
 * a job. A page says which changes it was taken for. If its process dies, the leader reads from the store what became of
 * them and fills it. Thread-safe.
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
     * A job that is about to be changed.
     *
     * @param token token under which it is settled, or {@link #BY_A_PERSON}
     * @since 0.1.0
     */
    public record Subject(JobId job, long token) {
        /** In place of a token: a person changes the job. */
        public static final long BY_A_PERSON = 0;
    }

    /**
     * The changes that a page was taken for.
     *
     * @param since when it was taken, by the store's clock
     * @param jobs jobs that are settled, or changed by a person
     * @param enqueues whether jobs are enqueued
     * @since 0.1.0
     */
    public record Pending(Instant since, List<Subject> jobs, boolean enqueues) {
        /** Copies the list. */
        public Pending {
            jobs = List.copyOf(jobs);
        }
    }

    /**
     * A page.
     *
     * @param number number of the page
     * @param version version of its document
     * @param writer name of the process that took it
     * @param events JSON objects
     * @param pending what is still to be told; null if the page is filled
     * @param isMark whether the page says that events before it are missing
     * @since 0.1.0
     */
    public record EventPage(
            long number,
            long version,
            String writer,
            List<String> events,
            @Nullable Pending pending,
            boolean isMark) {
        /** Copies the list. */
        public EventPage {
            events = List.copyOf(events);
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
        EventPage unused = take(List.of(), null, true);
    }

    /**
     * Writes a page.
     *
     * @param events JSON objects
     */
    public void append(List<String> events) {
        EventPage unused = take(events, null, false);
    }

    /**
     * Takes a page for changes that come next.
     *
     * @param events JSON objects of what happened before
     * @param pending the changes
     * @return the page; pass it to {@link #fill}
     */
    public EventPage reserve(List<String> events, Pending pending) {
        return take(events, pending, false);
    }

    private EventPage take(List<String> events, @Nullable Pending pending, boolean mark) {
        for (int i = 0; i < MAX_TRIES; i++) {
            long number = next();
            // A number without a page may have been given up by the leader. Then it is not used.
            OptionalLong version = put(number, 0, json(events, pending, mark));
            if (version.isPresent()) {
                if (number > KEPT) {
                    store.document(PAGE, id(number - KEPT)).ifPresent(store::removeDocument);
                }
                return new EventPage(number, version.getAsLong(), writer, events, pending, mark);
            }
        }
        throw tooMany();
    }

    /**
     * Fills a page that was taken, unless somebody else did.
     *
     * @param events all events of the page
     * @return whether it was filled by this call
     */
    public boolean fill(EventPage page, List<String> events) {
        return put(page.number(), page.version(), json(events, null, false)).isPresent();
    }

    /** Gives up a number whose page was never written. Its process has changed nothing under it, and never will. */
    public void giveUp(long number) {
        OptionalLong unused = put(number, 0, json(List.of(), null, false));
    }

    private OptionalLong put(long number, long version, String json) {
        return store.putDocument(new Document(PAGE, id(number), version, json));
    }

    private String json(List<String> events, @Nullable Pending pending, boolean mark) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        json.put("by", writer);
        json.put("events", events);
        if (mark) {
            json.put("mark", true);
        }
        if (pending != null) {
            json.put("since", Micros.of(pending.since()));
            json.put("enqueues", pending.enqueues());
            List<Object> jobs = new ArrayList<>();
            pending.jobs().forEach(job -> jobs.add(List.of(job.job().value(), job.token())));
            json.put("pending", jobs);
        }
        return JsonText.write(json);
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
        throw tooMany();
    }

    private static StoreException tooMany() {
        return new StoreException(
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
        long number = Long.parseLong(document.id());
        if (!(JsonReader.read(document.json()) instanceof Map<?, ?> page)) {
            return new EventPage(number, document.version(), "", List.of(), null, true);
        }
        List<String> events = new ArrayList<>();
        if (page.get("events") instanceof List<?> texts) {
            texts.forEach(text -> events.add(String.valueOf(text)));
        }
        boolean mark = Boolean.TRUE.equals(page.get("mark"));
        return new EventPage(number, document.version(), String.valueOf(page.get("by")), events, pending(page), mark);
    }

    private static @Nullable Pending pending(Map<?, ?> page) {
        if (!(page.get("since") instanceof Long since) || !(page.get("pending") instanceof List<?> jobs)) {
            return null;
        }
        List<Subject> subjects = new ArrayList<>();
        for (Object job : jobs) {
            if (job instanceof List<?> pair && pair.get(0) instanceof Long id && pair.get(1) instanceof Long token) {
                subjects.add(new Subject(new JobId(id), token));
            }
        }
        return new Pending(Micros.instant(since), subjects, Boolean.TRUE.equals(page.get("enqueues")));
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
