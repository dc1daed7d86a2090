// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.events;

import io.reprise.JobListener;
import io.reprise.events.FleetReader;
import io.reprise.failure.Failure;
import io.reprise.insight.Alert;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.JobEvent;
import io.reprise.job.JobId;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Json;
import io.reprise.server.http.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The latest events, numbered, so that a client can resume after a break. A thread of its own sends them, so that no
 * stream slows the engine down. They are kept in memory; an epoch in each id shows whether it belongs to this process.
 * An id also names a page of the store, from which another process can go on.
 *
 * <p>While a stream is open, events come from the pages of {@link FleetEvents}, also those of this process: so they have
 * the order of the whole fleet. Thread-safe.
 */
public final class EventLog implements JobListener, FleetReader, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final int MAX_EVENTS = 10_000;
    private static final int MAX_CHARS = 8 << 20;
    private static final int ENTRY_CHARS = 400;
    private static final int FEW = 100;

    /** Streams of one owner that read pages of the store again at the same time. */
    private static final int MAX_AGAIN = 2;

    private static final long AGAIN_MILLIS = 50;
    static final String ALERT = "ALERT";
    private static final String RESET = "reset";

    private static final String FOLLOW_UP_FAILED = "FOLLOW_UP_FAILED";

    private static final List<String> ALERT_KINDS = Stream.concat(
                    Arrays.stream(Alert.Kind.values()).map(Enum::name), Stream.of(FOLLOW_UP_FAILED))
            .toList();

    /** Every kind of event. */
    static final List<String> KINDS = Stream.of(
                    Arrays.stream(JobEvent.Kind.values()).map(Enum::name),
                    Arrays.stream(ControlEvent.Kind.values()).map(Enum::name),
                    Stream.of(ALERT))
            .flatMap(names -> names)
            .toList();

    private static final Schema JOB_EVENT = Schema.object()
            .must("kind", Schema.choice(JobEvent.Kind.class))
            .must("id", Schema.id())
            .must("type", Schema.name())
            .must("queue", Schema.name())
            .must("resource", Schema.name().orNull())
            .must("attempt", Schema.integer(0, Integer.MAX_VALUE))
            .must("at", Schema.time())
            .must("dueAt", Schema.time().orNull())
            .must("ran", Schema.duration().orNull())
            .must("failure", Schemas.FAILURE)
            .must("decision", Schemas.DECISION)
            .must("retryCount", Schema.integer(0, Integer.MAX_VALUE).about("as of the job after the event"))
            .must("maxRetries", Schema.integer(0, Integer.MAX_VALUE).orNull())
            .must("isRetryable", Schema.bool())
            .must("nextRetryAt", Schema.time().orNull())
            .must("progress", Schemas.PROGRESS)
            .named("JobEvent");

    private static final Schema CONTROL_EVENT = Schema.object()
            .must("kind", Schema.choice(ControlEvent.Kind.class))
            .must("subject", Schema.text(0, 200).about("resource or queue; empty for the budget of all jobs"))
            .must("at", Schema.time())
            .must("why", Schema.text(0, 2_000))
            .named("ControlEvent");

    private static final Schema ALERT_EVENT = Schema.object()
            .must("kind", Schema.choice(ALERT_KINDS))
            .must("type", Schema.name().orNull())
            .must("raised", Schema.bool())
            .must("message", Schema.text(1, 3_000))
            .named("AlertEvent");

    private static final Schema RESET_EVENT = Schema.object().named("ResetEvent");

    static final Schema EVENT =
            Schema.oneOf(JOB_EVENT, CONTROL_EVENT, ALERT_EVENT, RESET_EVENT).named("Event");

    /**
     * An event as it is sent.
     *
     * @param queue of the job; null if it is not about one
     * @param resource stored name
     * @param chars about as many as it takes to tell it
     * @param data asked for when it is told: most events nobody listens to
     * @param page page of the store up to which all is told with this event
     */
    record Entry(
            long number,
            String kind,
            @Nullable String job,
            @Nullable String type,
            @Nullable String queue,
            @Nullable String resource,
            int chars,
            Supplier<Map<String, @Nullable Object>> data,
            long page) {

        private Entry numbered(long next) {
            return new Entry(next, kind, job, type, queue, resource, chars, data, page);
        }
    }

    private final String epoch;
    private final Deque<Entry> entries = new ArrayDeque<>();
    private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();
    private final AtomicBoolean awake = new AtomicBoolean();

    /** Number of streams that wait to read pages again, by owner. */
    private final Map<String, Integer> readingAgain = new ConcurrentHashMap<>();

    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "reprise-events");
        made.setDaemon(true);
        return made;
    });

    private @Nullable FleetEvents fleet;

    /** Whether pages are read. If not, an event that is written there is missing here. */
    private boolean following;

    /** The last event before one that is missing here; -1 if none is. */
    private long gap = -1;

    private long page;
    private long chars;
    private long last;

    public EventLog(long startedMillis) {
        this.epoch = Long.toString(startedMillis, Character.MAX_RADIX);
    }

    @Override
    public void onEvent(JobEvent event) {
        String id = event.id().toString();
        if (event.failure() == null) {
            add(event.kind().name(), id, event.type(), event.queue(), event.resource(), ENTRY_CHARS, () -> data(event));
        } else {
            // The trace is not kept with it.
            Map<String, @Nullable Object> data = data(event);
            int chars = ENTRY_CHARS + String.valueOf(data.get("failure")).length();
            add(event.kind().name(), id, event.type(), event.queue(), event.resource(), chars, () -> data);
        }
    }

    private static Map<String, @Nullable Object> data(JobEvent event) {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("kind", event.kind());
        data.put("id", event.id().toString());
        data.put("type", event.type());
        data.put("queue", event.queue());
        data.put("resource", event.resource());
        data.put("attempt", event.attempt());
        data.put("at", event.at());
        data.put("dueAt", event.kind() == JobEvent.Kind.STARTED ? null : event.dueAt());
        data.put("ran", Views.duration(event.ran()));
        data.put("failure", withoutTrace(event.failure()));
        data.put("decision", Views.decision(event.decision()));
        data.put("retryCount", event.retries().retryCount());
        data.put("maxRetries", event.retries().maxRetries());
        data.put("isRetryable", event.retries().isRetryable());
        data.put("nextRetryAt", event.retries().nextRetryAt());
        data.put("progress", Views.progress(event.progress()));
        return data;
    }

    /** Leaves out the trace, which is long. The job's view has it. */
    private static @Nullable Map<String, @Nullable Object> withoutTrace(@Nullable Failure failure) {
        Map<String, @Nullable Object> view = Views.failure(failure);
        if (view != null) {
            view.put("trace", null);
        }
        return view;
    }

    @Override
    public void onAlert(Alert alert) {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("kind", alert.kind());
        data.put("type", alert.type());
        data.put("raised", alert.isRaised());
        data.put("message", alert.message());
        add(ALERT, null, alert.type(), null, null, ENTRY_CHARS, () -> data);
    }

    @Override
    public void onFollowUpFailure(JobEvent.Kind kind, JobId job, Throwable failure) {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("kind", FOLLOW_UP_FAILED);
        data.put("type", null);
        data.put("raised", true);
        data.put("message", "What should have followed " + kind + " of job " + job + " does not: " + failure);
        add(ALERT, null, null, null, null, ENTRY_CHARS, () -> data);
    }

    @Override
    public void onControl(ControlEvent event) {
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("kind", event.kind());
        data.put("subject", event.subject());
        data.put("at", event.at());
        data.put("why", event.why());
        add(event.kind().name(), null, null, null, event.subject(), ENTRY_CHARS, () -> data);
    }

    private void add(
            String kind,
            @Nullable String job,
            @Nullable String type,
            @Nullable String queue,
            @Nullable String resource,
            int length,
            Supplier<Map<String, @Nullable Object>> data) {
        synchronized (this) {
            append(new Entry(0, kind, job, type, queue, resource, length, data, page));
        }
        wake();
    }

    /** An event of this process is in the store. It is here too, if pages are read. */
    @Override
    public void onWritten() {
        synchronized (this) {
            gap = following ? gap : last;
        }
    }

    /**
     * Adds an event from a page.
     *
     * @param told page up to which all is told with this event
     */
    void add(RemoteEvent event, long told) {
        Entry entry = entry(event, told);
        synchronized (this) {
            page = told;
            append(entry);
        }
        wake();
    }

    /** Returns an event from a page without a number of this process. */
    Entry entry(RemoteEvent event, long told) {
        Map<String, @Nullable Object> data = event.data();
        boolean control = data.containsKey("subject");
        int length = ENTRY_CHARS + String.valueOf(data.get("failure")).length();
        return new Entry(
                0,
                event.kind(),
                event.text("id"),
                event.text("type"),
                event.text("queue"),
                event.text(control ? "subject" : "resource"),
                length,
                () -> data,
                told);
    }

    private void append(Entry entry) {
        entries.addLast(entry.numbered(++last));
        chars += entry.chars;
        while (entries.size() > MAX_EVENTS || chars > MAX_CHARS) {
            chars -= entries.removeFirst().chars;
        }
    }

    /** Joins the log with those of other processes. */
    void fleet(FleetEvents reader) {
        this.fleet = reader;
    }

    /** Says whether pages are read from now on. */
    synchronized void follows(boolean follows) {
        following = follows;
    }

    /** Returns the number of the last event. */
    synchronized long last() {
        return last;
    }

    /** Calls this when a stream that begins now misses nothing of any process. */
    void whenComplete(Runnable ready) {
        FleetEvents others = fleet;
        if (others == null) {
            ready.run();
        } else {
            others.whenComplete(ready);
        }
    }

    /** Tells every stream that events are missing. */
    void missing() {
        synchronized (this) {
            append(new Entry(0, RESET, null, null, null, null, ENTRY_CHARS, Map::of, page));
        }
        wake();
    }

    boolean hasReaders() {
        return !subscribers.isEmpty();
    }

    /** Who hears events, on a thread that nobody else waits for. */
    interface Reader {

        /**
         * Whether it can take more. A reader that stays busy misses events that are dropped, and
         * {@link #missed} tells it.
         */
        boolean isReady();

        /** Returns whose stream it is. */
        default String owner() {
            return "";
        }

        /** Says that events are gone. From this id on none is. */
        void missed(String id);

        void read(Entry entry);
    }

    private static final class Subscriber {
        private final Reader reader;
        private volatile long position;
        private volatile boolean ended;

        Subscriber(Reader reader, long position) {
            this.reader = reader;
            this.position = position;
        }
    }

    /**
     * Subscribes to every event from now on, and to those after {@code lastId} that are still kept.
     *
     * @return ends the subscription
     */
    Runnable subscribe(@Nullable String lastId, Reader reader) {
        Subscriber subscriber;
        FleetEvents others;
        synchronized (this) {
            long from = lastId == null ? last : number(lastId);
            // An id of another process counts as before all events, so the reader learns that it missed some.
            subscriber = new Subscriber(reader, from > last || (lastId != null && from <= gap) ? -1 : from);
            others = fleet;
        }
        long after = lastId != null && subscriber.position < 0 ? page(lastId) : -1;
        if (others == null || after < 0 || !mayReadAgain(reader.owner())) {
            subscribers.add(subscriber);
        } else {
            others.soon(() -> readAgain(others, after, subscriber));
        }
        wake();
        return () -> {
            subscriber.ended = true;
            subscribers.remove(subscriber);
        };
    }

    /** One thread reads pages for all. So an owner with more streams is told that it missed something. */
    private boolean mayReadAgain(String owner) {
        return readingAgain.merge(owner, 1, (there, one) -> Math.min(MAX_AGAIN + 1, there + one)) <= MAX_AGAIN;
    }

    private void readAgain(FleetEvents others, long after, Subscriber subscriber) {
        try {
            long told = subscriber.ended ? -1 : others.again(after, subscriber.reader);
            if (told >= 0) {
                subscriber.position = told;
            }
        } finally {
            readingAgain.computeIfPresent(
                    subscriber.reader.owner(), (owner, there) -> there == 1 ? null : Math.min(MAX_AGAIN, there) - 1);
            if (!subscriber.ended) {
                subscribers.add(subscriber);
            }
            wake();
        }
    }

    private void wake() {
        if (!subscribers.isEmpty() && awake.compareAndSet(false, true)) {
            try {
                thread.execute(this::tellAll);
            } catch (RejectedExecutionException e) {
                log.debug("Nobody receives events any more: this process ends");
            }
        }
    }

    private void tellAll() {
        awake.set(false);
        boolean behind = false;
        for (Subscriber subscriber : List.copyOf(subscribers)) {
            try {
                behind |= tell(subscriber);
            } catch (RuntimeException e) {
                log.warn("A stream of events failed", e);
                subscribers.remove(subscriber);
            }
        }
        if (behind) {
            Future<?> unused = thread.schedule(this::tellAll, AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Sends a subscriber its next events. Returns whether there are more than it can take now. */
    private boolean tell(Subscriber subscriber) {
        while (subscriber.reader.isReady()) {
            List<Entry> next = next(subscriber);
            if (next.isEmpty()) {
                return false;
            }
            for (Entry entry : next) {
                if (entry.kind.equals(RESET)) {
                    subscriber.reader.missed(id(entry.number, entry.page));
                } else {
                    subscriber.reader.read(entry);
                }
                subscriber.position = entry.number;
            }
        }
        return true;
    }

    private List<Entry> next(Subscriber subscriber) {
        List<Entry> next = new ArrayList<>();
        String missed = null;
        synchronized (this) {
            long before = entries.isEmpty() ? last : entries.getFirst().number() - 1;
            if (subscriber.position < before || subscriber.position < 0) {
                missed = id(before, page);
                subscriber.position = before;
            }
            // Numbers are consecutive, so earlier events are skipped by count.
            int passed = (int) (subscriber.position - before);
            entries.stream().skip(passed).limit(FEW).forEach(next::add);
        }
        if (missed != null) {
            subscriber.reader.missed(missed);
        }
        return next;
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }

    /** Returns an id such as {@code 17.k3f-42}: page, epoch and number. Without other processes it has no page. */
    private String id(long number, long told) {
        return (fleet == null ? "" : told + ".") + epoch + "-" + number;
    }

    /** Returns -1 if the id is not of this process. */
    private long number(String id) {
        int dash = id.indexOf('-');
        int dot = id.indexOf('.');
        if (dash < 0 || dot > dash || !id.substring(dot + 1, dash).equals(epoch)) {
            return -1;
        }
        return parsed(id.substring(dash + 1));
    }

    /** Returns the page in an id; -1 if it has none. */
    private static long page(String id) {
        int dot = id.indexOf('.');
        return dot < 0 ? -1 : parsed(id.substring(0, dot));
    }

    private static long parsed(String number) {
        try {
            return Long.parseLong(number);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    String text(Entry entry, Tenancy tenancy) {
        Map<String, @Nullable Object> shown = new LinkedHashMap<>(entry.data.get());
        shown.computeIfPresent("queue", (key, name) -> tenancy.shown(name.toString()));
        shown.computeIfPresent("resource", (key, name) -> tenancy.shown(name.toString()));
        shown.computeIfPresent("subject", (key, name) -> tenancy.shown(name.toString()));
        return "id: " + id(entry.number, entry.page) + "\nevent: " + entry.kind + "\ndata: " + Json.text(shown)
                + "\n\n";
    }
}
