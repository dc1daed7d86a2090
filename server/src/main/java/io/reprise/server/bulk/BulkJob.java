// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.bulk;

import io.reprise.Bulk;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.store.Document;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The stored state of a bulk.
 *
 * @param seenAt when its server wrote it last; a bulk that runs and is not seen for a minute has lost its server
 */
record BulkJob(
        String id,
        Order order,
        State state,
        long matched,
        boolean matchedAtLeast,
        Progress progress,
        Instant seenAt,
        @Nullable Instant endedAt,
        @Nullable String note) {

    static final String KIND = "bulk";

    private static final Duration SILENT = Duration.ofMinutes(1);

    enum State {
        RUNNING,
        DONE,
        CANCELLED,
        FAILED,
        LOST
    }

    /** The request: an action on the jobs that a search finds. */
    record Order(
            String action, String q, String by, @Nullable String why, Instant createdAt) {}

    /** The jobs that were looked at, changed, and not changed because they refused. */
    record Progress(long looked, long done, long refused) {

        static Progress of(Bulk.Result result) {
            return new Progress(result.matched(), result.done(), result.matched() - result.done());
        }
    }

    static BulkJob read(Document document) {
        Fields fields = new Fields(Json.parse(document.json()));
        Instant created = Instant.parse(fields.text("createdAt", Instant.EPOCH.toString()));
        return new BulkJob(
                document.id(),
                new Order(
                        fields.text("action", ""),
                        fields.text("q", ""),
                        fields.text("by", ""),
                        fields.text("why"),
                        created),
                State.valueOf(fields.text("state", State.FAILED.name())),
                (long) fields.number("matched", 0),
                fields.flag("matchedAtLeast"),
                new Progress((long) fields.number("looked", 0), (long) fields.number("done", 0), (long)
                        fields.number("refused", 0)),
                Instant.parse(fields.text("seenAt", Instant.EPOCH.toString())),
                fields.time("endedAt"),
                fields.text("note"));
    }

    String json() {
        return Json.text(view(id, Instant.MIN));
    }

    /** Shows it under the id that the caller knows. */
    Map<String, @Nullable Object> view(String shownId, Instant now) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("id", shownId);
        view.put("action", order.action);
        view.put("q", order.q);
        view.put("state", isLost(now) ? State.LOST : state);
        view.put("note", isLost(now) ? "its server ended; what was done stays done, so start it again" : note);
        view.put("matched", matched);
        view.put("matchedAtLeast", matchedAtLeast);
        view.put("looked", progress.looked);
        view.put("done", progress.done);
        view.put("refused", progress.refused);
        view.put("by", order.by);
        view.put("why", order.why);
        view.put("createdAt", order.createdAt);
        view.put("seenAt", seenAt);
        view.put("endedAt", endedAt);
        return view;
    }

    boolean isActive(Instant now) {
        return state == State.RUNNING && !isLost(now);
    }

    private boolean isLost(Instant now) {
        return state == State.RUNNING && now.isAfter(seenAt.plus(SILENT));
    }

    BulkJob at(Progress seen, Instant now) {
        return new BulkJob(id, order, state, matched, matchedAtLeast, seen, now, endedAt, note);
    }

    BulkJob ended(State how, @Nullable String why, Instant now) {
        return new BulkJob(id, order, how, matched, matchedAtLeast, progress, now, now, why);
    }
}
