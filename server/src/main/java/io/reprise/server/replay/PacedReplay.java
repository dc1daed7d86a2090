// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.replay;

import io.reprise.PayloadCodec;
import io.reprise.Replay;
import io.reprise.job.JobQuery;
import io.reprise.server.api.DeadLetterEndpoints;
import io.reprise.server.api.Filters;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.store.Document;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A slow replay of dead letters: the order and its progress. Everything is in its document, so that it continues after
 * a restart, in the process that leads. Not thread-safe.
 */
final class PacedReplay {

    static final String KIND = "replay";

    /** Outcomes that decide whether failures have returned. */
    private static final int WINDOW = 20;

    private static final int FEW = 5;

    /** The state of the replay. */
    enum State {
        /** The first few jobs are back; the others wait for their outcome. */
        CANARY,
        RUNNING,
        /** All jobs are back; the last ones are watched. */
        DRAINING,
        DONE,
        /** It stopped because jobs failed again. */
        STOPPED,
        CANCELLED;

        boolean isActive() {
            return this == CANARY || this == RUNNING || this == DRAINING;
        }
    }

    /** The order, as the client gave it. */
    record Order(
            @Nullable String tenant,
            JsonNode filter,
            JsonNode how,
            double rate,
            int canary,
            double stopAt,
            @Nullable Integer limit,
            String by,
            @Nullable String why,
            Instant createdAt) {

        /** Whether both orders ask for the same. Requester and time do not matter. */
        boolean asksFor(Order other, PayloadCodec codec) {
            return filter.equals(other.filter)
                    && replay(codec).equals(other.replay(codec))
                    && rate == other.rate
                    && canary == other.canary
                    && stopAt == other.stopAt
                    && Objects.equals(limit, other.limit)
                    && Objects.equals(why, other.why);
        }

        Tenancy tenancy() {
            return Tenancy.of(new Caller(by, Set.of(), tenant));
        }

        JobQuery query() {
            return Filters.query(new Fields(filter), tenancy());
        }

        /**
         * Returns how jobs are put back.
         *
         * @throws io.reprise.job.PayloadException if the patch is encrypted with a key that is not known here
         */
        Replay replay(PayloadCodec codec) {
            Fields fields = new Fields(how);
            Replay replay = DeadLetterEndpoints.replay(fields, tenancy());
            String patch = fields.text("patch");
            return patch == null ? replay : replay.withPatch(codec.open(patch));
        }

        boolean keepsCounters() {
            return new Fields(how).flag("keepCounters");
        }
    }

    /**
     * A job that was put back, or is about to be.
     *
     * @param attempts its counted attempts before
     */
    record Watched(String id, int attempts) {}

    final String id;
    final Order order;
    State state = State.CANARY;
    long matched;
    /** Whether there may be more matches than were counted. */
    boolean matchedAtLeast;

    long replayed;
    long succeeded;
    long failed;
    long refused;

    @Nullable
    String cursor;

    boolean exhausted;

    @Nullable
    String note;

    @Nullable
    Instant endedAt;
    /** Jobs that were put back, outcome unknown. */
    final List<Watched> watched = new ArrayList<>();
    /** The latest outcomes: true for a failure. */
    final List<Boolean> recent = new ArrayList<>();

    PacedReplay(String id, Order order) {
        this.id = id;
        this.order = order;
    }

    static PacedReplay read(Document document) {
        Fields fields = new Fields(Json.parse(document.json()));
        Order order = new Order(
                fields.text("tenant"),
                fields.node("filter"),
                fields.node("how"),
                fields.number("rate", 1),
                fields.integer("canary", 1),
                fields.number("stopAt", 1),
                fields.has("limit") ? fields.integer("limit", 1) : null,
                fields.text("by", "unknown"),
                fields.text("why"),
                Instant.parse(fields.text("createdAt", Instant.EPOCH.toString())));
        PacedReplay replay = new PacedReplay(document.id(), order);
        replay.state = State.valueOf(fields.text("state", State.CANARY.name()));
        replay.matched = fields.integer("matched", 0);
        replay.matchedAtLeast = fields.flag("matchedAtLeast");
        replay.replayed = fields.integer("replayed", 0);
        replay.succeeded = fields.integer("succeeded", 0);
        replay.failed = fields.integer("failed", 0);
        replay.refused = fields.integer("refused", 0);
        replay.cursor = fields.text("cursor");
        replay.exhausted = fields.flag("exhausted");
        replay.note = fields.text("note");
        replay.endedAt = fields.time("endedAt");
        for (Fields each : fields.each("watched")) {
            replay.watched.add(new Watched(each.text("id", ""), each.integer("attempts", 0)));
        }
        fields.node("recent").forEach(outcome -> replay.recent.add(outcome.booleanValue()));
        return replay;
    }

    String json() {
        Map<String, @Nullable Object> all = view();
        all.put("tenant", order.tenant);
        all.put("filter", order.filter);
        all.put("how", order.how);
        all.put("cursor", cursor);
        all.put("exhausted", exhausted);
        all.put("watched", watched);
        all.put("recent", recent);
        return Json.text(all);
    }

    /** Returns the fields for clients. */
    Map<String, @Nullable Object> view() {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("id", order.tenancy().shown(id));
        view.put("state", state);
        view.put("note", note);
        view.put("filter", order.filter);
        view.put("rate", order.rate);
        view.put("canary", order.canary);
        view.put("stopAt", order.stopAt);
        view.put("limit", order.limit);
        view.put("matched", matched);
        view.put("matchedAtLeast", matchedAtLeast);
        view.put("replayed", replayed);
        view.put("succeeded", succeeded);
        view.put("failed", failed);
        view.put("refused", refused);
        view.put("inFlight", watched.size());
        view.put("patched", List.copyOf(new Fields(order.how).texts("patched")));
        view.put("sample", null);
        view.put("by", order.by);
        view.put("why", order.why);
        view.put("createdAt", order.createdAt);
        view.put("endedAt", endedAt);
        return view;
    }

    /** Notes that a watched job succeeded or failed again. */
    void ended(Watched job, boolean failure, Instant now) {
        watched.remove(job);
        succeeded += failure ? 0 : 1;
        failed += failure ? 1 : 0;
        recent.add(failure);
        if (recent.size() > WINDOW) {
            recent.remove(0);
        }
        if (failure && state == State.CANARY) {
            end(State.STOPPED, "canary job " + job.id + " failed again", now);
        } else if (failure && state.isActive() && recent.size() >= FEW && failures() >= order.stopAt) {
            long percent = Math.round(100 * failures());
            end(State.STOPPED, percent + " % of the last " + recent.size() + " jobs failed again", now);
        }
    }

    /** Returns how many more jobs may be put back. */
    long left() {
        Integer limit = order.limit;
        return limit == null ? Long.MAX_VALUE : limit - replayed;
    }

    private double failures() {
        return recent.stream().filter(failure -> failure).count() / (double) recent.size();
    }

    void end(State how, @Nullable String why, Instant now) {
        state = how;
        note = why;
        endedAt = now;
    }
}
