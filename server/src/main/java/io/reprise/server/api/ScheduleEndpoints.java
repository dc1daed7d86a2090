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
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.util.RawValue;

/** Endpoints of schedules. */
public final class ScheduleEndpoints implements Endpoints {

    private static final String SECTION = "Schedules";
    private static final int SHOWN_RUNS = 5;

    private static final Schema REQUEST = Schema.object()
            .may("cron", Schema.text(1, 200).about("five or six fields; seconds first if six"))
            .may("every", Schema.duration())
            .may("zone", Schema.text(1, 100).about("such as Europe/Paris; UTC unless given"))
            .may("missed", Schema.choice(Schedule.MissedFire.class))
            .may("overlap", Schema.bool().about("fire while the last job is still unfinished"))
            .must("job", Schemas.JOB_REQUEST)
            .named("ScheduleRequest");

    private static final Schema SCHEDULE = Schema.object()
            .must("name", Schema.name())
            .must("cron", Schema.text(1, 200).orNull())
            .must("every", Schema.duration().orNull())
            .must("zone", Schema.text(1, 100))
            .must("missed", Schema.choice(Schedule.MissedFire.class))
            .must("overlap", Schema.bool())
            .must("paused", Schema.bool())
            .must("nextAt", Schema.time())
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
        if (fields.has("cron") == fields.has("every")) {
            throw Problem.invalid("/cron", "give either cron or every");
        }
        requireRoom(request);
        Object before = api.reprise()
                .findSchedule(name(request))
                .map(ScheduleEndpoints::told)
                .orElse(null);
        try {
            Schedule schedule = schedule(name(request), fields, job);
            api.reprise()
                    .schedule(
                            schedule,
                            note(request).changing(Json.change(before, told(schedule, fields.in("job"), tenancy))));
        } catch (DateTimeException e) {
            throw Problem.invalid("/zone", "is not a time zone");
        } catch (IllegalArgumentException e) {
            throw Problem.invalid(fields.has("cron") ? "/cron" : "/every", String.valueOf(e.getMessage()));
        } catch (StoreException e) {
            throw e;
        } catch (RepriseException e) {
            throw Problem.invalid("/cron", "never fires");
        }
        return Response.ok(view(stored(request), tenancy));
    }

    /** Returns the fields for the audit log, without the payload. */
    private static Map<String, String> told(StoredSchedule schedule) {
        String[] rule = schedule.rule().split("\\|", -1);
        return told(rule[1], rule[2], schedule.job().type(), schedule.job().queue());
    }

    private static Map<String, String> told(Schedule schedule, Fields job, Tenancy tenancy) {
        String when = schedule.cron() == null ? String.valueOf(schedule.every()) : schedule.cron();
        String queue = tenancy.stored("queue", job.text("queue", JobSpec.DEFAULT_QUEUE));
        return told(when, schedule.zone().getId(), job.text("type", ""), queue);
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

    private static Schedule schedule(String name, Fields fields, JobRequest<RawValue> job) {
        Duration every = fields.duration("every");
        String cron = fields.text("cron", "");
        if (cron.indexOf('|') >= 0) {
            throw new IllegalArgumentException("has a character that no cron expression has: |");
        }
        return new Schedule(
                name,
                job,
                every == null ? cron : null,
                every,
                ZoneId.of(fields.text("zone", "UTC")),
                Schedule.MissedFire.valueOf(fields.text("missed", Schedule.MissedFire.ONCE.name())),
                fields.flag("overlap"));
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
        // The format of the core: kind, expression, zone, missed, overlap.
        String[] rule = schedule.rule().split("\\|", -1);
        boolean cron = rule[0].equals("cron");
        view.put("name", tenancy.shown(schedule.name()));
        view.put("cron", cron ? rule[1] : null);
        view.put("every", cron ? null : Views.duration(Duration.parse(rule[1])));
        view.put("zone", rule[2]);
        view.put("missed", rule[3]);
        view.put("overlap", Boolean.parseBoolean(rule[4]));
        view.put("paused", schedule.paused());
        view.put("nextAt", schedule.nextAt());
        view.put("nextRuns", api.reprise().nextRuns(schedule, SHOWN_RUNS));
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
}
