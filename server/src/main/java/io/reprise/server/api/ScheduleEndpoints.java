// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.JobRequest;
import io.reprise.Schedule;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.PayloadException;
import io.reprise.job.RepriseException;
import io.reprise.job.StoredSchedule;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.store.StoreException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.util.RawValue;

/** Endpoints of schedules. */
public final class ScheduleEndpoints implements Endpoints {

    private static final String SECTION = "Schedules";
    private static final int SHOWN_RUNS = 5;

    private static final Schema REQUEST = Schema.object()
            .may("cron", Schema.text(1, 200).about("five or six fields; seconds first if six"))
            .may("every", Schema.duration().about("an interval from firing to firing"))
            .may("fixedDelay", Schema.duration().about("the time from the end of one job to the next firing"))
            .may("zone", Schema.text(1, 100).about("such as Europe/Paris; UTC unless given"))
            .may("missed", Schema.choice(Schedule.MissedFire.class))
            .may("overlap", Schema.bool().about("fire while the last job is still unfinished"))
            .may("firstNow", Schema.bool().about("fire as soon as it is stored, or stored with another rule"))
            .may("start", Schema.time().about("it does not fire earlier; an interval counts from it"))
            .may("end", Schema.time().about("it does not fire later"))
            .may("jitter", Schema.duration().about("each job becomes due up to this much later than its firing"))
            .must("job", Schemas.JOB_REQUEST)
            .named("ScheduleRequest");

    private static final Schema SCHEDULE = Schema.object()
            .must("name", Schema.name())
            .must("cron", Schema.text(1, 200).orNull())
            .must("every", Schema.duration().orNull())
            .must("fixedDelay", Schema.duration().orNull())
            .must("zone", Schema.text(1, 100))
            .must("missed", Schema.choice(Schedule.MissedFire.class))
            .must("overlap", Schema.bool())
            .must("firstNow", Schema.bool())
            .must("start", Schema.time().orNull())
            .must("end", Schema.time().orNull())
            .must("jitter", Schema.duration())
            .must("paused", Schema.bool())
            .must("nextAt", Schema.time().orNull().about("null if it has ended"))
            .must("nextRuns", Schema.array(Schema.time(), 0, 100))
            .must("lastJob", Schema.id().orNull())
            .must(
                    "job",
                    Schema.object()
                            .must("type", Schema.name())
                            .must("queue", Schema.name())
                            .must("payload", Schema.json())
                            .named("ScheduledJob"))
            .named("Schedule");

    private static final Schema RUNS =
            Schema.object().must("items", Schema.array(Schema.time(), 0, 100)).named("NextRuns");

    private static final Schema TRIGGERED =
            Schema.object().must("id", Schema.id()).named("Triggered");

    private final Api api;
    private final JobRequests requests;

    public ScheduleEndpoints(Api api, PolicyBook policies) {
        this.api = api;
        this.requests = new JobRequests(api, policies);
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/schedules", "listSchedules")
                        .section(SECTION)
                        .summary("Every schedule")
                        .scope(Scope.READ)
                        .answers(200, "the schedules", Schemas.page(SCHEDULE, "Schedules"))
                        .does(this::list),
                one(Operation.get("/v1/schedules/{schedule}", "getSchedule"))
                        .summary("One schedule with its next runs")
                        .scope(Scope.READ)
                        .answers(200, "the schedule", SCHEDULE)
                        .does(request -> Response.ok(view(stored(request), Tenancy.of(request.caller())))),
                one(Operation.put("/v1/schedules/{schedule}", "putSchedule"))
                        .summary("Create a schedule or change it; its next run stays if its rule does")
                        .scope(Scope.OPERATE)
                        .body(REQUEST)
                        .answers(200, "the schedule as it is now", SCHEDULE)
                        .does(this::put),
                one(Operation.delete("/v1/schedules/{schedule}", "deleteSchedule"))
                        .summary("Remove a schedule; its jobs stay")
                        .scope(Scope.OPERATE)
                        .answers(204, "it is gone")
                        .does(this::delete),
                one(Operation.post("/v1/schedules/{schedule}/pause", "pauseSchedule"))
                        .summary("Let it not fire")
                        .scope(Scope.OPERATE)
                        .optionalBody(Schemas.WHY)
                        .answers(200, "the schedule as it is now", SCHEDULE)
                        .does(request -> {
                            api.as(request).pauseSchedule(stored(request).name());
                            return Response.ok(view(stored(request), Tenancy.of(request.caller())));
                        }),
                one(Operation.post("/v1/schedules/{schedule}/resume", "resumeSchedule"))
                        .summary("Let it fire again; what it missed is treated by its rule")
                        .scope(Scope.OPERATE)
                        .optionalBody(Schemas.WHY)
                        .answers(200, "the schedule as it is now", SCHEDULE)
                        .does(request -> {
                            api.as(request).resumeSchedule(stored(request).name());
                            return Response.ok(view(stored(request), Tenancy.of(request.caller())));
                        }),
                one(Operation.post("/v1/schedules/{schedule}/trigger", "triggerSchedule"))
                        .summary("Enqueue its job now; its next run stays as it is")
                        .scope(Scope.OPERATE)
                        .optionalBody(Schemas.WHY)
                        .answers(202, "the job", TRIGGERED)
                        .does(this::trigger),
                one(Operation.get("/v1/schedules/{schedule}/next", "nextRuns"))
                        .summary("When it runs next")
                        .scope(Scope.READ)
                        .query("count", Schema.integer(1, 100), "how many; 10 unless given")
                        .answers(200, "times", RUNS)
                        .does(request -> Response.ok(Map.of(
                                "items", api.reprise().nextRuns(stored(request), request.integer("count", 10))))));
    }

    private static Operation.Builder one(Operation.Builder operation) {
        return operation.section(SECTION).path("schedule", Schema.name(), "name of the schedule");
    }

    private Answer list(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        return Response.ok(Views.page(
                api.reprise().schedules().stream()
                        .filter(schedule -> tenancy.owns(schedule.name()))
                        .map(schedule -> view(schedule, tenancy))
                        .toList(),
                null));
    }

    private Answer put(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Fields fields = request.fields();
        JobRequest<RawValue> job = requests.one("/job", fields.node("job"), tenancy);
        if (fields.in("job").has("idempotencyKey")) {
            throw Problem.invalid("/job/idempotencyKey", "would let only the first run enqueue a job");
        }
        if (Stream.of("cron", "every", "fixedDelay").filter(fields::has).count() != 1) {
            throw Problem.invalid("/cron", "give exactly one of cron, every and fixedDelay");
        }
        return api.quotas().oneByOne(request.caller().tenant(), () -> put(request, job));
    }

    private Answer put(Request request, JobRequest<RawValue> job) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Fields fields = request.fields();
        requireRoom(request);
        Object before =
                api.reprise().findSchedule(name(request)).map(this::told).orElse(null);
        Schedule schedule = schedule(name(request), fields, job);
        try {
            api.reprise()
                    .schedule(
                            schedule,
                            note(request).changing(Json.change(before, told(schedule, fields.in("job"), tenancy))));
        } catch (StoreException e) {
            throw e;
        } catch (RepriseException e) {
            throw Problem.invalid("/cron", "never fires");
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/job", String.valueOf(e.getMessage()));
        }
        return Response.ok(view(stored(request), tenancy));
    }

    /** Returns the fields for the audit log, without the payload. */
    private Map<String, String> told(StoredSchedule schedule) {
        Schedule.Timing timing = timing(schedule);
        String when = timing == null ? "unreadable" : when(timing);
        String zone = timing == null ? "" : timing.zone().getId();
        return told(when, zone, schedule.job().type(), schedule.job().queue());
    }

    private static Map<String, String> told(Schedule schedule, Fields job, Tenancy tenancy) {
        String queue = tenancy.stored("queue", job.text("queue", JobSpec.DEFAULT_QUEUE));
        return told(when(schedule.timing()), schedule.timing().zone().getId(), job.text("type", ""), queue);
    }

    private static String when(Schedule.Timing timing) {
        if (timing.cron() != null) {
            return timing.cron();
        }
        return timing.every() != null ? timing.every().toString() : "fixed delay " + timing.fixedDelay();
    }

    private static Map<String, String> told(String when, String zone, String type, String queue) {
        return Map.of("when", when, "zone", zone, "type", type, "queue", queue);
    }

    private static AuditNote note(Request request) {
        return new AuditNote(request.caller().name(), null);
    }

    private void requireRoom(Request request) {
        String tenant = request.caller().tenant();
        Tenancy tenancy = Tenancy.of(request.caller());
        if (tenant != null && api.reprise().findSchedule(name(request)).isEmpty()) {
            long own = api.store().schedules().stream()
                    .filter(each -> tenancy.owns(each.name()))
                    .count();
            Quotas.requireRoom(own, api.quotas().of(tenant).schedules(), "schedules", "delete one");
        }
    }

    /** Sets one field after the other, so that a refusal names its field. */
    private static Schedule schedule(String name, Fields fields, JobRequest<RawValue> job) {
        Duration every = fields.duration("every");
        Duration fixedDelay = fields.duration("fixedDelay");
        Schedule schedule;
        if (every != null) {
            schedule = checked("/every", () -> Schedule.every(name, every, job));
        } else if (fixedDelay != null) {
            schedule = checked("/fixedDelay", () -> Schedule.fixedDelay(name, fixedDelay, job));
        } else {
            schedule = checked("/cron", () -> Schedule.cron(name, fields.text("cron", ""), job));
        }
        schedule = set(schedule, fields, "zone", all -> all.zone(zone(fields)));
        schedule = set(
                schedule, fields, "missed", all -> all.missed(Schedule.MissedFire.valueOf(fields.text("missed", ""))));
        schedule = set(schedule, fields, "overlap", all -> fields.flag("overlap") ? all.allowOverlap() : all);
        schedule = set(schedule, fields, "firstNow", all -> fields.flag("firstNow") ? all.firstNow() : all);
        schedule = set(schedule, fields, "start", all -> all.start(Objects.requireNonNull(fields.time("start"))));
        schedule = set(schedule, fields, "end", all -> all.end(Objects.requireNonNull(fields.time("end"))));
        return set(schedule, fields, "jitter", all -> all.jitter(Objects.requireNonNull(fields.duration("jitter"))));
    }

    private static ZoneId zone(Fields fields) {
        try {
            return ZoneId.of(fields.text("zone", "UTC"));
        } catch (DateTimeException e) {
            throw Problem.invalid("/zone", "is not a time zone");
        }
    }

    private static Schedule set(Schedule schedule, Fields fields, String field, UnaryOperator<Schedule> change) {
        return fields.has(field) ? checked("/" + field, () -> change.apply(schedule)) : schedule;
    }

    private static Schedule checked(String pointer, Supplier<Schedule> made) {
        try {
            return made.get();
        } catch (IllegalArgumentException e) {
            throw Problem.invalid(pointer, String.valueOf(e.getMessage()));
        }
    }

    private Answer delete(Request request) {
        StoredSchedule before = stored(request);
        api.reprise().unschedule(before.name(), note(request).changing(Json.change(told(before), null)));
        return Response.noContent();
    }

    private Answer trigger(Request request) {
        StoredSchedule schedule = stored(request);
        JobSpec job = schedule.job();
        api.quotas()
                .enqueue(request.caller(), Set.of(job.queue()), 1, job.payload().length());
        JobId id = api.as(request).trigger(schedule.name());
        return Response.json(202, Map.of("id", id.toString())).header("Location", "/v1/jobs/" + id);
    }

    private static String name(Request request) {
        return Tenancy.of(request.caller()).stored("schedule", request.path("schedule"));
    }

    private StoredSchedule stored(Request request) {
        String name = name(request);
        return api.reprise()
                .findSchedule(name)
                .orElseThrow(() -> Problem.notFound("Schedule '" + request.path("schedule") + "'"));
    }

    /** Returns the payload as it was before it was stored, if this server has the key. */
    private String opened(String stored) {
        try {
            return api.codec().open(stored);
        } catch (PayloadException e) {
            return stored;
        }
    }

    private Map<String, @Nullable Object> view(StoredSchedule schedule, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        Schedule.Timing timing = timing(schedule);
        view.put("name", tenancy.shown(schedule.name()));
        view.put("cron", timing == null ? null : timing.cron());
        view.put("every", duration(timing == null ? null : timing.every()));
        view.put("fixedDelay", duration(timing == null ? null : timing.fixedDelay()));
        view.put("zone", timing == null ? "UTC" : timing.zone().getId());
        view.put("missed", timing == null ? Schedule.MissedFire.ONCE : timing.missed());
        view.put("overlap", timing != null && timing.overlap());
        view.put("firstNow", timing != null && timing.span().firstNow());
        view.put("start", timing == null ? null : timing.span().start());
        view.put("end", timing == null ? null : timing.span().end());
        view.put(
                "jitter",
                duration(timing == null ? Duration.ZERO : timing.span().jitter()));
        view.put("paused", schedule.paused());
        view.put("nextAt", schedule.ended() ? null : schedule.nextAt());
        view.put("nextRuns", timing == null ? List.of() : api.reprise().nextRuns(schedule, SHOWN_RUNS));
        view.put(
                "lastJob",
                schedule.lastJob() == null ? null : schedule.lastJob().toString());
        Map<String, @Nullable Object> job = new LinkedHashMap<>();
        job.put("type", schedule.job().type());
        job.put("queue", tenancy.shown(schedule.job().queue()));
        job.put("payload", Views.json(opened(schedule.job().payload())));
        view.put("job", job);
        return view;
    }

    /** Returns null for a rule that cannot be read: of a newer version, or damaged. */
    private Schedule.@Nullable Timing timing(StoredSchedule schedule) {
        try {
            return api.reprise().timing(schedule);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static @Nullable String duration(@Nullable Duration value) {
        return value == null ? null : Views.duration(value);
    }
}
