// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.events;

import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.dashboard.DashboardEndpoints;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.EventSink;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Streams events as they happen. */
public final class EventEndpoints implements Endpoints, AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(EventEndpoints.class);
    private static final Schema STREAMED =
            Schema.oneOf(EventLog.EVENT, DashboardEndpoints.PULSE).named("StreamedEvent");
    private static final int HEARTBEAT_SECONDS = 10;

    private final EventLog log;
    private final Quotas quotas;
    private final StreamCounts counts = new StreamCounts();
    private final Map<EventSink, Caller> open = new ConcurrentHashMap<>();

    /** Streams that want the pulse, with what was sent last. */
    private final Map<EventSink, String> beating = new ConcurrentHashMap<>();

    private volatile Function<Caller, String> pulse = caller -> "";

    /** Streams whose first line is sent. */
    private final Set<EventSink> begun = ConcurrentHashMap.newKeySet();

    private final ScheduledExecutorService heart = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "reprise-event-heart");
        thread.setDaemon(true);
        return thread;
    });

    public EventEndpoints(EventLog log, Quotas quotas) {
        this.log = log;
        this.quotas = quotas;
        List<Future<?>> unused = List.of(
                heart.scheduleAtFixedRate(
                        () -> begun.forEach(sink -> sink.send(": \n\n")),
                        HEARTBEAT_SECONDS,
                        HEARTBEAT_SECONDS,
                        TimeUnit.SECONDS),
                heart.scheduleWithFixedDelay(this::beat, 1, 1, TimeUnit.SECONDS));
    }

    /** Sets who knows the pulse as a caller may see it, in JSON. */
    public void pulse(Function<Caller, String> reader) {
        pulse = reader;
    }

    private void beat() {
        beating.forEach((sink, last) -> {
            Caller caller = open.get(sink);
            if (caller == null || !sink.isReady()) {
                return;
            }
            try {
                String now = pulse.apply(caller);
                if (!now.equals(last)) {
                    beating.computeIfPresent(sink, (same, old) -> now);
                    sink.send("event: pulse\ndata: " + now + "\n\n");
                }
            } catch (RuntimeException e) {
                logger.warn("A pulse could not be read: {}", e.getMessage());
            }
        });
    }

    @Override
    public List<Operation> operations() {
        return List.of(Operation.get("/v1/events", "streamEvents")
                .section("Events")
                .summary("Server-sent events of the whole fleet, whichever process they happened in; "
                        + "an event named reset says that some were missed")
                .scope(Scope.READ)
                .header("Last-Event-ID", Schema.text(1, 100), "the last event that was seen: go on after it")
                .query("kinds", Schema.text(1, 1_000), "only these kinds, between commas")
                .query("queue", Schema.name(), "only of jobs of this queue")
                .query("type", Schema.name(), "only of jobs of this type")
                .query("job", Schema.id(), "only of this job")
                .query("pulse", Schema.bool(), "also events named pulse with what /v1/pulse answers, as it changes")
                .answersEach(200, "events until the client goes", "text/event-stream", STREAMED)
                .does(this::stream));
    }

    private Answer stream(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Predicate<EventLog.Entry> wanted = wanted(request, tenancy);
        String lastId = request.parameter("Last-Event-ID");
        boolean beats = request.flag("pulse");
        Caller caller = request.caller();
        counts.take(
                caller, caller.tenant() == null ? 0 : quotas.of(caller.tenant()).streams());
        return new Answer.Stream(
                sink -> {
                    sink.onEnd(() -> counts.release(caller));
                    start(sink, lastId, wanted, caller);
                    if (beats) {
                        beating.put(sink, "");
                        sink.onEnd(() -> beating.remove(sink));
                    }
                },
                () -> counts.release(caller));
    }

    void start(EventSink sink, @Nullable String lastId, Predicate<EventLog.Entry> wanted, Caller caller) {
        open.put(sink, caller);
        // Subscribes first: a client that has read the beginning of the answer misses no later event.
        Runnable end = log.subscribe(lastId, new Stream(sink, wanted, caller));
        sink.onEnd(() -> {
            open.remove(sink);
            begun.remove(sink);
            end.run();
        });
        log.whenComplete(() -> begin(sink));
    }

    private void begin(EventSink sink) {
        sink.send(": what the fleet does\nretry: 2000\n\n");
        begun.add(sink);
        if (!open.containsKey(sink)) {
            begun.remove(sink);
        }
    }

    private final class Stream implements EventLog.Reader {
        private final EventSink sink;
        private final Predicate<EventLog.Entry> wanted;
        private final Tenancy tenancy;
        private final String owner;

        Stream(EventSink sink, Predicate<EventLog.Entry> wanted, Caller caller) {
            this.sink = sink;
            this.wanted = wanted;
            this.tenancy = Tenancy.of(caller);
            this.owner = caller.owner();
        }

        @Override
        public String owner() {
            return owner;
        }

        @Override
        public boolean isReady() {
            return sink.isReady();
        }

        @Override
        public void missed(String id) {
            sink.send("id: " + id + "\nevent: reset\ndata: {}\n\n");
        }

        @Override
        public void read(EventLog.Entry entry) {
            if (wanted.test(entry)) {
                sink.send(log.text(entry, tenancy));
            }
        }
    }

    private static Predicate<EventLog.Entry> wanted(Request request, Tenancy tenancy) {
        Set<String> chosen = kinds(request.parameter("kinds"));
        String queue = tenancy.storedOrNull("queue", request.parameter("queue"));
        String type = request.parameter("type");
        String job = request.parameter("job");
        return entry -> tenancy.owns(entry.queue() == null ? entry.resource() : entry.queue())
                && (chosen.isEmpty() || chosen.contains(entry.kind()))
                && (queue == null || queue.equals(entry.queue()))
                && (type == null || type.equals(entry.type()))
                && (job == null || job.equals(entry.job()));
    }

    /** Parses kinds of events. A misspelt kind is refused, because its events would never come. */
    private static Set<String> kinds(@Nullable String text) {
        Set<String> kinds = text == null
                ? Set.of()
                : Arrays.stream(text.split(",", -1))
                        .map(kind -> kind.trim().toUpperCase(Locale.ROOT))
                        .collect(Collectors.toSet());
        if (!EventLog.KINDS.containsAll(kinds)) {
            throw Problem.invalid("kinds", "must be one or more of " + String.join(", ", EventLog.KINDS));
        }
        return kinds;
    }

    @Override
    public void close() {
        heart.shutdownNow();
        log.close();
    }
}
