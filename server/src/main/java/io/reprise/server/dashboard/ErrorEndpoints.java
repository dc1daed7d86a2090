// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.insight.WaitingError;
import io.reprise.job.DeadGroup;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.Page;
import io.reprise.server.api.Api;
import io.reprise.server.api.Recent;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.store.ActivityQuery;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The endpoint of errors: what jobs failed of, whether they are dead or wait for another attempt. */
public final class ErrorEndpoints implements Endpoints {

    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final int HOURS = 24;

    /** Dead letters and waiting jobs that are looked at, each. */
    private static final int LOOKS = JobQuery.MAX_LOOKS;

    private static final int MAX_GROUPS = 1_000;

    /** Tenants whose answer is kept for a moment. */
    private static final int MAX_KEPT = 100;

    private static final Schema GROUP = Schema.object()
            .must("fingerprint", Schema.text(1, 100).orNull().about("null for jobs that died without an error"))
            .must("error", Schemas.ERROR)
            .must("dead", Schema.integer(0, NO_LIMIT).about("dead letters"))
            .must("waiting", Schema.integer(0, NO_LIMIT).about("jobs that failed so and wait for another attempt"))
            .must("firstAt", Schema.time().orNull().about("when the first of these dead letters died"))
            .must("lastAt", Schema.time().orNull())
            .must(
                    "failedByHour",
                    Schema.array(Schema.integer(0, NO_LIMIT), HOURS, HOURS)
                            .orNull()
                            .about(
                                    "attempts that failed so in each of the last 24 hours, oldest first; null for a tenant"))
            .must("latest", Schemas.JOB_SUMMARY.about("the newest dead letter, or the newest job that waits"))
            .named("ErrorGroup");

    private static final Schema ERRORS = Schema.object()
            .must("at", Schema.time())
            .must("items", Schema.array(GROUP, 0, MAX_GROUPS).about("those with most jobs first"))
            .must("deadAtLeast", Schema.bool().about("whether only the newest 10,000 dead letters were looked at"))
            .must("waitingAtLeast", Schema.bool().about("whether only 10,000 waiting jobs were looked at"))
            .named("Errors");

    private final Api api;
    private final LongSupplier nanos;
    private final Map<String, Recent<Map<String, @Nullable Object>>> kept = new HashMap<>();

    ErrorEndpoints(Api api, LongSupplier nanos) {
        this.api = api;
        this.nanos = nanos;
    }

    @Override
    public List<Operation> operations() {
        return List.of(Operation.get("/v1/errors", "listErrors")
                .section("Insight")
                .summary("What jobs failed of: how many are dead, how many wait for another attempt")
                .scope(Scope.READ)
                .answers(200, "the errors; read anew at most once a second", ERRORS)
                .does(this::errors));
    }

    private Answer errors(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        return Response.ok(recent(tenancy).get());
    }

    private Recent<Map<String, @Nullable Object>> recent(Tenancy tenancy) {
        synchronized (kept) {
            if (kept.size() >= MAX_KEPT) {
                kept.clear();
            }
            return kept.computeIfAbsent(
                    Objects.requireNonNullElse(tenancy.prefix(), ""),
                    prefix -> new Recent<>(() -> read(tenancy), Duration.ofSeconds(1), nanos));
        }
    }

    /** One error, from what is known of it. */
    private record Group(
            @Nullable String fingerprint,
            @Nullable DeadGroup dead,
            @Nullable WaitingError waiting) {

        long jobs() {
            return (dead == null ? 0 : dead.count()) + (waiting == null ? 0 : waiting.jobs());
        }
    }

    private Map<String, @Nullable Object> read(Tenancy tenancy) {
        boolean all = tenancy.prefix() == null;
        Instant now = api.store().now();
        JobQuery query = JobQuery.deadLetters().queuePrefix(tenancy.prefix()).brief();
        Page<DeadGroup> dead = api.reprise().deadGroups(query, MAX_GROUPS);
        List<WaitingError> waiting = api.store().waitingErrors(tenancy.prefix(), LOOKS);
        Map<String, long[]> hours = all ? hours(now) : Map.of();
        List<Map<String, @Nullable Object>> items = new ArrayList<>();
        for (Group group : joined(dead.items(), waiting)) {
            Map<String, @Nullable Object> view = view(group, tenancy);
            if (view != null) {
                view.put("failedByHour", all ? hours.getOrDefault(group.fingerprint, new long[HOURS]) : null);
                items.add(view);
            }
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("at", now);
        view.put("items", items);
        view.put("deadAtLeast", dead.next() != null);
        view.put(
                "waitingAtLeast", waiting.stream().mapToLong(WaitingError::jobs).sum() >= LOOKS);
        return view;
    }

    private static List<Group> joined(List<DeadGroup> dead, List<WaitingError> waiting) {
        Map<String, WaitingError> open = new LinkedHashMap<>();
        waiting.forEach(error -> open.put(error.fingerprint(), error));
        List<Group> groups = new ArrayList<>();
        dead.forEach(group -> groups.add(new Group(
                group.fingerprint(), group, group.fingerprint() == null ? null : open.remove(group.fingerprint()))));
        open.values().forEach(error -> groups.add(new Group(error.fingerprint(), null, error)));
        groups.sort(Comparator.comparingLong(Group::jobs).reversed());
        return groups.subList(0, Math.min(MAX_GROUPS, groups.size()));
    }

    private @Nullable Map<String, @Nullable Object> view(Group group, Tenancy tenancy) {
        DeadGroup dead = group.dead;
        WaitingError waiting = group.waiting;
        // A job that waited a moment ago may have been pruned or retried with success.
        Job latest = dead != null
                ? dead.latest()
                : waiting == null ? null : api.reprise().find(waiting.latest()).orElse(null);
        if (latest == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("fingerprint", group.fingerprint);
        view.put("error", Views.error(latest.status().lastError()));
        view.put("dead", dead == null ? 0 : dead.count());
        view.put("waiting", waiting == null ? 0 : waiting.jobs());
        view.put("firstAt", dead == null ? null : dead.firstAt());
        view.put("lastAt", dead == null ? null : dead.lastAt());
        view.put("latest", Views.brief(latest, tenancy));
        return view;
    }

    private Map<String, long[]> hours(Instant now) {
        long hour = Duration.ofHours(1).toMillis();
        long last = now.toEpochMilli() / hour;
        Map<String, long[]> hours = new HashMap<>();
        for (ActivityPeriod row :
                api.store().activity(ActivityQuery.each(Activity.Subject.ERROR, Activity.Step.HOUR, HOURS))) {
            int at = (int) (HOURS - 1 - (last - row.at().toEpochMilli() / hour));
            if (at >= 0 && at < HOURS) {
                hours.computeIfAbsent(row.name(), name -> new long[HOURS])[at] +=
                        row.counts().failed();
            }
        }
        return hours;
    }
}
