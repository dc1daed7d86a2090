// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.insight.Activity.Counts;
import io.reprise.insight.Activity.Step;
import io.reprise.insight.Activity.Subject;
import io.reprise.insight.ActivityPeriod;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.store.ActivityQuery;
import io.reprise.store.JobStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The endpoint of what happened minute by minute and hour by hour. */
public final class SeriesEndpoints implements Endpoints {

    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final String EACH = "each";

    private static final Schema ROW = Schema.object()
            .must("at", Schema.time().about("when the period began"))
            .must("name", Schema.text(1, 200).orNull().about("null for all names together"))
            .must("jobs", Schema.integer(0, Long.MAX_VALUE).about("first attempts that ended"))
            .must("succeeded", Schema.integer(0, Long.MAX_VALUE).about("attempts that succeeded"))
            .must("failed", Schema.integer(0, Long.MAX_VALUE).about("attempts that failed"))
            .must("retried", Schema.integer(0, Long.MAX_VALUE).about("first attempts whose job is retried"))
            .must("retries", Schema.integer(0, Long.MAX_VALUE).about("retries that were scheduled, after any attempt"))
            .must("dead", Schema.integer(0, Long.MAX_VALUE).about("jobs that became dead letters"))
            .must("meanBackoffSeconds", Schema.number(0, Double.MAX_VALUE).about("mean delay of the retries"))
            .must("meanRunSeconds", Schema.number(0, Double.MAX_VALUE).about("mean time of the attempts"))
            .named("SeriesRow");

    private static final Schema SERIES = Schema.object()
            .must("step", Schema.duration())
            .must(
                    "items",
                    Schema.array(ROW, 0, NO_LIMIT)
                            .about("oldest first. A tenant's key sees its own queues and resources only"))
            .named("Series");

    private static final String OF =
            "type unless given. start counts first starts of queues with a service level: succeeded in time, failed late";

    private final JobStore store;

    SeriesEndpoints(JobStore store) {
        this.store = store;
    }

    @Override
    public List<Operation> operations() {
        return List.of(Operation.get("/v1/series", "getSeries")
                .section("Insight")
                .summary("What was counted, minute by minute for 3 hours or hour by hour for 31 days")
                .scope(Scope.READ)
                .query("of", Schema.choice(List.of("type", "queue", "resource", "error", "start")), OF)
                .query("name", Schema.name(), "only of this type, queue, resource, or fingerprint of an error")
                .query("step", Schema.choice(List.of("1m", "1h")), "1m unless given")
                .query("periods", Schema.integer(1, 744), "how far back; 60 minutes or 24 hours unless given")
                .query(EACH, Schema.bool(), "rows for each name that was counted, of up to 180 periods")
                .answers(200, "a row for each period, also if nothing happened, unless it is for each name", SERIES)
                .does(this::series));
    }

    private Answer series(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Subject subject = Subject.valueOf(text(request, "of", "type").toUpperCase(Locale.ROOT));
        Step step = text(request, "step", "1m").equals("1m") ? Step.MINUTE : Step.HOUR;
        int periods = request.integer("periods", step == Step.MINUTE ? 60 : 24);
        boolean each = text(request, EACH, "false").equals("true");
        boolean owned = subject == Subject.QUEUE || subject == Subject.RESOURCE || subject == Subject.START;
        boolean all = tenancy.prefix() == null;
        String name = request.parameter("name");
        String stored = name != null && owned ? tenancy.stored("name", name) : name;
        // A tenant's sum is made of the rows of its names.
        boolean byName = stored == null && (each || !all);
        ActivityQuery query = query(subject, step, periods, stored, byName);
        // Types and errors are counted for the whole fleet, so a tenant does not see them.
        List<ActivityPeriod> found = all || owned
                ? store.activity(query).stream()
                        .filter(row -> tenancy.owns(row.name()))
                        .toList()
                : List.of();
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("step", step == Step.MINUTE ? "1m" : "1h");
        view.put("items", each ? rows(found, tenancy) : all || owned ? periods(found, query, name) : List.of());
        return Response.ok(view);
    }

    private static String text(Request request, String parameter, String other) {
        String text = request.parameter(parameter);
        return text == null ? other : text;
    }

    private static ActivityQuery query(Subject subject, Step step, int periods, @Nullable String name, boolean each) {
        try {
            return new ActivityQuery(subject, step, periods, name, each);
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("periods", String.valueOf(e.getMessage()));
        }
    }

    private static List<Map<String, @Nullable Object>> rows(List<ActivityPeriod> found, Tenancy tenancy) {
        return found.stream()
                .map(row -> row(row.at(), tenancy.shown(row.name()), row.counts()))
                .toList();
    }

    /** Returns a row for each period, also for those in which nothing was counted. */
    private List<Map<String, @Nullable Object>> periods(
            List<ActivityPeriod> found, ActivityQuery query, @Nullable String name) {
        Map<Instant, Counts> sums = new TreeMap<>();
        long length = query.step().length().toMillis();
        Instant last = Instant.ofEpochMilli(store.now().toEpochMilli() / length * length);
        for (int ago = query.periods() - 1; ago >= 0; ago--) {
            sums.put(last.minusMillis(ago * length), Counts.NONE);
        }
        found.forEach(row -> sums.merge(row.at(), row.counts(), Counts::plus));
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        sums.forEach((at, counts) -> rows.add(row(at, name, counts)));
        return rows.subList(Math.max(0, rows.size() - query.periods()), rows.size());
    }

    private static Map<String, @Nullable Object> row(Instant at, @Nullable String name, Counts counts) {
        long attempts = counts.succeeded() + counts.failed();
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("at", at);
        row.put("name", name);
        row.put("jobs", counts.jobs());
        row.put("succeeded", counts.succeeded());
        row.put("failed", counts.failed());
        row.put("retried", counts.retried());
        row.put("retries", counts.retries());
        row.put("dead", counts.dead());
        row.put("meanBackoffSeconds", mean(counts.backoff().toMillis(), counts.retries()));
        row.put("meanRunSeconds", mean(counts.ran().toMillis(), attempts));
        return row;
    }

    private static double mean(long millis, long count) {
        return count == 0 ? 0 : millis / 1e3 / count;
    }
}
