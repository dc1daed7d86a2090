// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.replay;

import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.PayloadException;
import io.reprise.job.RefusedException;
import io.reprise.server.replay.PacedReplay.State;
import io.reprise.server.replay.PacedReplay.Watched;
import io.reprise.settings.CeilingException;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves paced replays on: it puts dead letters back at the wanted rate, watches their outcomes, and stops when they
 * fail again. It stores each step before it takes it, so a crash neither loses count nor puts a job back twice.
 */
public final class Replayer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final String ROLE = "replayer";
    private static final Duration TERM = Duration.ofSeconds(10);
    private static final long TICK_MILLIS = 250;
    private static final int IDLE_TICKS = 8;
    private static final int MAX_ACTIVE = 1_000;
    private static final Duration SEARCH = Duration.ofSeconds(1);
    private static final int MAX_WATCHED = 500;

    /** How long an ended replay is kept. */
    private static final Duration KEPT = Duration.ofDays(30);

    private final Reprise reprise;
    private final JobStore store;
    private final PayloadCodec codec;
    private final String name;
    private final LongSupplier nanos;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "reprise-replayer");
        made.setDaemon(true);
        return made;
    });

    /** When each replay last put jobs back, and what is left of its allowance. Only the rate depends on it. */
    private final Map<String, Pace> paces = new HashMap<>();

    private int idle;

    private record Pace(long nanos, double allowance) {}

    /**
     * Creates it.
     *
     * @param codec opens what an order has sealed
     * @param name name of this process
     */
    public Replayer(Reprise reprise, JobStore store, PayloadCodec codec, String name, LongSupplier nanos) {
        this.reprise = reprise;
        this.store = store;
        this.codec = codec;
        this.name = name;
        this.nanos = nanos;
    }

    public void start() {
        Future<?> unused = thread.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Runs a step at once. */
    void wake() {
        thread.execute(() -> {
            idle = 0;
            tick();
        });
    }

    private void tick() {
        try {
            if (idle > 0) {
                idle--;
                return;
            }
            idle = step() ? 0 : IDLE_TICKS;
        } catch (StoreException e) {
            log.warn("Replays wait for the store: {}", e.getMessage());
        } catch (RuntimeException e) {
            log.error("A replay failed in an unforeseen way and is tried again", e);
        }
    }

    /** Moves every active replay on, if this process leads. Returns whether there are any. */
    boolean step() {
        List<Document> active = new ArrayList<>();
        Instant horizon = store.now().minus(KEPT);
        String after = null;
        do {
            Page<Document> page = store.documents(PacedReplay.KIND, 100, after);
            for (Document document : page.items()) {
                PacedReplay replay = PacedReplay.read(document);
                if (replay.state.isActive()) {
                    active.add(document);
                } else if (replay.endedAt != null && replay.endedAt.isBefore(horizon)) {
                    store.removeDocument(document);
                }
            }
            after = page.next();
        } while (after != null && active.size() < MAX_ACTIVE);
        if (active.isEmpty() || !store.lead(ROLE, name, TERM)) {
            paces.clear();
            return false;
        }
        active.forEach(this::move);
        return true;
    }

    private void move(Document document) {
        PacedReplay replay = PacedReplay.read(document);
        Instant now = store.now();
        if (!isReadable(replay)) {
            replay.end(State.STOPPED, "its patch is encrypted with a key that this server does not have", now);
        }
        watch(replay, now);
        List<Watched> next = replay.state.isActive() ? next(replay, now) : List.of();
        replay.watched.addAll(next);
        replay.replayed += next.size();
        if (replay.state == State.DRAINING && replay.watched.isEmpty()) {
            replay.end(State.DONE, null, now);
        }
        String json = replay.json();
        if (json.equals(document.json())) {
            return;
        }
        OptionalLong version = store.putDocument(document.with(json));
        if (version.isPresent() && !next.isEmpty()) {
            perform(replay, new Document(document.kind(), document.id(), version.getAsLong(), json), next);
        }
    }

    private boolean isReadable(PacedReplay replay) {
        try {
            replay.order.replay(codec);
            return true;
        } catch (PayloadException e) {
            log.warn("Replay {} cannot go on: {}", replay.id, e.getMessage());
            return false;
        }
    }

    /** Puts back the jobs that the document announces. */
    private void perform(PacedReplay replay, Document document, List<Watched> next) {
        int refused = 0;
        for (Watched each : next) {
            if (!putBack(replay, each)) {
                replay.watched.remove(each);
                refused++;
            }
        }
        if (refused > 0) {
            replay.refused += refused;
            replay.replayed -= refused;
            // If another process was first, the job is found neither succeeded nor failed, and is
            // dropped when it is watched.
            store.putDocument(document.with(replay.json()));
        }
    }

    private boolean putBack(PacedReplay replay, Watched job) {
        try {
            reprise.as(replay.order.by(), "replay " + replay.id)
                    .replay(JobId.parse(job.id()), replay.order.replay(codec));
            return true;
        } catch (CeilingException e) {
            // A full queue is waited for: the job is watched, and put back when there is room.
            return e.kind() == CeilingException.Kind.DEPTH;
        } catch (RefusedException e) {
            return false;
        }
    }

    /** Checks the jobs that were put back. The first attempt after that counts. */
    private void watch(PacedReplay replay, Instant now) {
        for (Watched each : List.copyOf(replay.watched)) {
            Job job = store.find(JobId.parse(each.id())).orElse(null);
            if (job == null || job.state() == JobState.CANCELLED) {
                replay.watched.remove(each);
            } else if (job.state() == JobState.SUCCEEDED) {
                replay.ended(each, false, now);
            } else if (isOld(job, replay)) {
                // The document announced the job, but it was never put back.
                if (!replay.state.isActive() || !putBack(replay, each)) {
                    replay.watched.remove(each);
                }
            } else if (job.state() == JobState.FAILED || job.attempts() > each.attempts()) {
                replay.ended(each, true, now);
            }
        }
        if (replay.state == State.CANARY && replay.replayed > 0 && replay.watched.isEmpty()) {
            replay.state = replay.exhausted ? State.DRAINING : State.RUNNING;
        }
    }

    /** Whether the job is still the dead letter from before the replay. */
    private static boolean isOld(Job job, PacedReplay replay) {
        Instant failedAt = job.times().finishedAt();
        return job.state() == JobState.FAILED && failedAt != null && failedAt.isBefore(replay.order.createdAt());
    }

    /** Returns the jobs to put back now. Jobs that failed after the replay began are left alone. */
    private List<Watched> next(PacedReplay replay, Instant now) {
        if (replay.state == State.CANARY && replay.exhausted && replay.replayed == 0 && replay.watched.isEmpty()) {
            replay.end(State.DONE, "every dead letter that matches was refused", now);
            return List.of();
        }
        if (replay.state == State.RUNNING && replay.left() < 1) {
            replay.exhausted = true;
            replay.state = State.DRAINING;
        }
        int room = (int) Math.min(Math.min(allowance(replay), MAX_WATCHED - replay.watched.size()), replay.left());
        if (room < 1 || replay.exhausted || (replay.state == State.CANARY && replay.replayed > 0)) {
            return List.of();
        }
        List<Watched> next = new ArrayList<>();
        // Pages may be empty. After this time the next step continues, so that other replays have their turn.
        long end = nanos.getAsLong() + SEARCH.toNanos();
        while (next.size() < room && !replay.exhausted && nanos.getAsLong() - end < 0) {
            JobQuery query = replay.order.query().brief().state(JobState.FAILED).limit(room - next.size());
            Page<Job> page = store.find(query.after(replay.cursor));
            page.items().stream()
                    .filter(job -> isOld(job, replay))
                    .map(job -> new Watched(job.id().toString(), attempts(job, replay)))
                    .forEach(next::add);
            advance(replay, page.next());
        }
        spend(replay, next.size());
        if (replay.exhausted && replay.state == State.RUNNING) {
            replay.state = State.DRAINING;
        }
        if (replay.exhausted && replay.state == State.CANARY && next.isEmpty()) {
            replay.end(State.DONE, "no dead letter matches", now);
        }
        return next;
    }

    private static void advance(PacedReplay replay, @Nullable String cursor) {
        replay.cursor = cursor;
        replay.exhausted = cursor == null;
    }

    private static int attempts(Job job, PacedReplay replay) {
        return replay.order.keepsCounters() ? job.attempts() : 0;
    }

    private int allowance(PacedReplay replay) {
        if (replay.state == State.CANARY) {
            return replay.order.canary();
        }
        long now = nanos.getAsLong();
        Pace pace = paces.getOrDefault(replay.id, new Pace(now, 1));
        double earned = (now - pace.nanos) / 1e9 * replay.order.rate();
        // Allowance that could not be used must not become a burst.
        double most = Math.max(1, replay.order.rate());
        paces.put(replay.id, new Pace(now, Math.min(most, pace.allowance + earned)));
        return (int) Math.min(most, pace.allowance + earned);
    }

    private void spend(PacedReplay replay, int jobs) {
        paces.computeIfPresent(replay.id, (id, pace) -> new Pace(pace.nanos, pace.allowance - jobs));
    }

    @Override
    public void close() {
        thread.shutdownNow();
        try {
            store.resign(ROLE, name);
        } catch (StoreException e) {
            log.debug("The role of the replayer was left to end by itself: {}", e.getMessage());
        }
    }
}
