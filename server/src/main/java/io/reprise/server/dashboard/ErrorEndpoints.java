// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.failure.Failure;
import io.reprise.insight.Activity;
import io.reprise.insight.ActivityPeriod;
import io.reprise.insight.DeadGroup;
import io.reprise.insight.WaitingError;
import io.reprise.job.AuditNote;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobStatus;
import io.reprise.job.Page;
import io.reprise.server.api.Api;
import io.reprise.server.api.Recent;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Fields;
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

    private static final String SECTION = "Insight";
    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final int HOURS = 24;
    private static final int MAX_GROUPS = 1_000;

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
            .must(
                    "pattern",
                    Schema.text(0, 2_000).orNull().about("the message without its variable parts; null without one"))
            .must("note", ErrorNotes.NOTE)
            .must("latest", Schemas.JOB_SUMMARY.about("the newest dead letter, or the newest job that waits"))
            .named("ErrorGroup");

    private static final Schema ERRORS = Schema.object()
            .must("at", Schema.time())
            .must("items", Schema.array(GROUP, 0, MAX_GROUPS).about("those with most jobs first"))
            .must("deadAtLeast", Schema.bool().about("whether only the newest 10,000 dead letters were looked at"))
            .must("waitingAtLeast", Schema.bool().about("whether only 10,000 waiting jobs were looked at"))
            .named("Errors");

    private static final Schema NOTING = Schema.object()
            .must("text", Schema.text(0, 1_000).about("such as: known, INC-12"))
            .may("muted", Schema.bool().about("leave it out of the errors that grow"))
            .may("why", Schema.text(0, 500))
            .named("NoteError");

    /** Dead letters whose payloads are compared. */
    private static final int COMPARED = 20;

    private final Api api;
    private final ErrorNotes notes;
    private final Recent.ByName<Map<String, @Nullable Object>> kept;

    ErrorEndpoints(Api api, LongSupplier nanos) {
        this.api = api;
        this.notes = new ErrorNotes(api.store());
        this.kept = new Recent.ByName<>(reader -> new Recent<>(reader, Duration.ofSeconds(1), nanos));
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/errors", "listErrors")
                        .section(SECTION)
                        .summary("What jobs failed of: how many are dead, how many wait for another attempt")
                        .scope(Scope.READ)
                        .answers(200, "the errors; read again at most once a second", ERRORS)
                        .does(this::errors),
                one(Operation.get("/v1/errors/{fingerprint}/payloads", "compareErrorPayloads"))
                        .summary("Where the payloads of the newest 20 dead letters of an error differ")
                        .scope(Scope.READ)
                        .showsPartsOfPayloads()
                        .answers(200, "the commonest values of their fields", PayloadFields.SCHEMA)
                        .does(this::payloads),
                one(Operation.get("/v1/errors/{fingerprint}/note", "getErrorNote"))
                        .summary("What a person noted about an error")
                        .scope(Scope.READ)
                        .answers(
                                200,
                                "the note, or null",
                                Schema.object().must("note", ErrorNotes.NOTE).named("NotedError"))
                        .does(this::note),
                one(Operation.put("/v1/errors/{fingerprint}/note", "noteError"))
                        .summary("Note something about an error, or mute it")
                        .scope(Scope.OPERATE)
                        .body(NOTING)
                        .answers(200, "the note", ErrorNotes.NOTE)
                        .does(this::putNote),
                one(Operation.delete("/v1/errors/{fingerprint}/note", "forgetErrorNote"))
                        .summary("Forget the note of an error")
                        .scope(Scope.OPERATE)
                        .query("why", Schema.text(0, 500), "is written into the audit log")
                        .answers(204, "there is none")
                        .does(this::forgetNote));
    }

    private static Operation.Builder one(Operation.Builder operation) {
        return operation.section(SECTION).path("fingerprint", Schema.name(), "fingerprint of the error");
    }

    private Answer payloads(Request request) {
        JobQuery query = JobQuery.deadLetters()
                .queuePrefix(Tenancy.of(request.caller()).prefix())
                .fingerprint(request.path("fingerprint"))
                .limit(COMPARED);
        return Response.ok(PayloadFields.of(api.reprise().find(query).items()));
    }

    private static String id(Request request) {
        return Tenancy.of(request.caller()).stored("fingerprint", request.path("fingerprint"));
    }

    private Answer note(Request request) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("note", notes.find(id(request)));
        return Response.ok(view);
    }

    private Answer putNote(Request request) {
        Fields fields = request.fields();
        Tenancy tenancy = Tenancy.of(request.caller());
        boolean full = notes.all(tenancy).size() >= ErrorNotes.MAX_NOTES;
        Map<String, @Nullable Object> note = notes.put(
                id(request),
                fields.text("text", ""),
                fields.flag("muted"),
                new AuditNote(request.caller().name(), fields.text("why")),
                full);
        recent(tenancy).forget();
        return Response.ok(note);
    }

    private Answer forgetNote(Request request) {
        notes.remove(id(request), new AuditNote(request.caller().name(), request.parameter("why")));
        recent(Tenancy.of(request.caller())).forget();
        return Response.noContent();
    }

    private Answer errors(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        return Response.ok(recent(tenancy).get());
    }

    private Recent<Map<String, @Nullable Object>> recent(Tenancy tenancy) {
        return kept.of(Objects.requireNonNullElse(tenancy.prefix(), ""), () -> read(tenancy));
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
        List<WaitingError> waiting = api.store().waitingErrors(tenancy.prefix(), JobQuery.MAX_LOOKS);
        Map<String, long[]> hours = all ? hours(now) : Map.of();
        Map<String, Map<String, @Nullable Object>> noted = notes.all(tenancy);
        List<Map<String, @Nullable Object>> items = new ArrayList<>();
        for (Group group : joined(dead.items(), waiting)) {
            Map<String, @Nullable Object> view = view(group, tenancy);
            if (view != null) {
                view.put("failedByHour", all ? hours.getOrDefault(group.fingerprint, new long[HOURS]) : null);
                view.put("note", group.fingerprint == null ? null : noted.get(group.fingerprint));
                items.add(view);
            }
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("at", now);
        view.put("items", items);
        view.put("deadAtLeast", dead.next() != null);
        view.put(
                "waitingAtLeast", waiting.stream().mapToLong(WaitingError::jobs).sum() >= JobQuery.MAX_LOOKS);
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
        JobStatus.LastError error = latest.status().lastError();
        String message = error == null ? null : error.message();
        view.put("pattern", message == null ? null : Failure.pattern(message));
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
