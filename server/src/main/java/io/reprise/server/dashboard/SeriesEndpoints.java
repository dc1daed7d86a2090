// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.insight.Activity;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The endpoint of what happened minute by minute. */
public final class SeriesEndpoints implements Endpoints {

    private static final int NO_LIMIT = Integer.MAX_VALUE;

    private static final Schema ROW = Schema.object()
            .must("at", Schema.time().about("when the minute began"))
            .must("type", Schema.text(1, 100).orNull().about("null for all types together"))
            .must("jobs", Schema.integer(0, NO_LIMIT).about("first attempts that ended"))
            .must("retried", Schema.integer(0, NO_LIMIT).about("first attempts whose job is retried"))
            .must("retries", Schema.integer(0, NO_LIMIT).about("retries that were scheduled, after any attempt"))
            .must("dead", Schema.integer(0, NO_LIMIT).about("jobs that became dead letters"))
            .must("meanBackoffSeconds", Schema.number(0, Double.MAX_VALUE).about("mean delay of the retries"))
            .named("SeriesRow");

    private static final Schema SERIES = Schema.object()
            .must("step", Schema.duration())
            .must("items", Schema.array(ROW, 0, NO_LIMIT).about("oldest first; empty for a tenant's key"))
            .named("Series");

    private final ActivityMinutes minutes;

    SeriesEndpoints(ActivityMinutes minutes) {
        this.minutes = minutes;
    }

    @Override
    public List<Operation> operations() {
        return List.of(Operation.get("/v1/series", "getSeries")
                .section("Insight")
                .summary("What the fleet counted, minute by minute, of all job types or of each")
                .scope(Scope.READ)
                .query("minutes", Schema.integer(1, ActivityMinutes.KEPT), "how far back; 60 unless given")
                .query("type", Schema.name(), "only of jobs of this type")
                .query("by", Schema.choice(List.of("type")), "a row for each type, instead of their sum")
                .answers(200, "a row for each minute, also if nothing happened", SERIES)
                .does(this::series));
    }

    private Answer series(Request request) {
        // Counts are kept by type for the whole fleet, so a tenant does not see them.
        boolean all = request.caller().tenant() == null;
        String type = request.parameter("type");
        boolean each = request.parameter("by") != null;
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        if (all) {
            minutes.last(request.integer("minutes", 60)).forEach((at, counts) -> {
                List<Activity> wanted = counts.stream()
                        .filter(one -> type == null || one.type().equals(type))
                        .toList();
                if (each) {
                    wanted.forEach(one -> rows.add(row(at, one.type(), one)));
                } else {
                    rows.add(row(at, type, sum(wanted)));
                }
            });
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("step", "1m");
        view.put("items", rows);
        return Response.ok(view);
    }

    static Activity sum(List<Activity> counts) {
        return counts.stream().reduce(new Activity("", 0, 0, 0, 0, Duration.ZERO), Activity::plus);
    }

    private static Map<String, @Nullable Object> row(Instant at, @Nullable String type, Activity counts) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("at", at);
        row.put("type", type);
        row.put("jobs", counts.jobs());
        row.put("retried", counts.retried());
        row.put("retries", counts.retries());
        row.put("dead", counts.dead());
        row.put(
                "meanBackoffSeconds",
                counts.retries() == 0 ? 0 : counts.backoff().toMillis() / 1e3 / counts.retries());
        return row;
    }
}
