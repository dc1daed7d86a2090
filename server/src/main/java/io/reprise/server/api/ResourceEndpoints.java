// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.Operations;
import io.reprise.control.BreakerPhase;
import io.reprise.control.ForcedBy;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.ResourceStatus;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.WaitReason;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
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
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Endpoints of resources: breakers and retry budgets. */
public final class ResourceEndpoints implements Endpoints {

    private static final String SECTION = "Resources";

    private static final Schema SECONDS = Schema.number(0, 1e12);

    private static final Schema RAMP = Schema.object()
            .must("rate", Schema.number(0, 1e9).about("calls per second that may start now"))
            .must("aim", Schema.number(0, 1e9).orNull().about("calls per second to which the rate grows quickly"))
            .must("why", Schema.text(0, 1_000).about("what bounds the rate now"))
            .must("inFlight", Schema.number(0, 1e9).orNull().about("calls that may be in flight at once"))
            .must("throughInSeconds", SECONDS.about("estimated time until the parked jobs are let go"))
            .named("Ramp");

    private static final Schema BUDGET = Schema.object()
            .must("level", Schema.number(-1e9, 1e9).about("credits left for retries; a retry costs 14"))
            .must("capacity", Schema.number(0, 1e9))
            .must("waiting", Schema.integer(0, Integer.MAX_VALUE).about("retries that wait for credits"))
            .must("throughInSeconds", SECONDS.orNull().about("estimated time until these retries run"))
            .named("Budget");

    private static final Schema CALLS = Schema.object()
            .must("calls", Schema.integer(0, Integer.MAX_VALUE).about("in the window, of the whole fleet"))
            .must("failed", Schema.integer(0, Integer.MAX_VALUE).about("those that count against the resource"))
            .must("streak", Schema.integer(0, Integer.MAX_VALUE).about("such failures in a row"))
            .must("opensAt", Schema.number(0, 1).about("share of failures at which the breaker opens"))
            .must("leastCalls", Schema.integer(1, Integer.MAX_VALUE).about("with fewer the share does not count"))
            .must("opensAfter", Schema.integer(1, Integer.MAX_VALUE).about("failures in a row that open it too"))
            .must("within", Schema.duration().about("how far back the share looks"))
            .orNull()
            .named("ResourceCalls")
            .about("what a closed breaker counts while calls fail; null if it is not closed or none fails");

    private static final Schema RESOURCE = Schema.object()
            .must("name", Schema.name())
            .must("phase", Schema.choice(BreakerPhase.class))
            .must("why", Schema.text(0, 1_000))
            .must("since", Schema.time().orNull())
            .must("nextProbe", Schema.time().orNull())
            .must("ramp", RAMP.orNull().about("how parked jobs are let go; null unless the breaker is ramping"))
            .must("budget", BUDGET)
            .must("parked", Schema.integer(0, Integer.MAX_VALUE))
            .must("forcedBy", Schema.text(0, 100).orNull())
            .must("calls", CALLS)
            .named("Resource");

    /** Jobs whose ages are looked at. */
    private static final int MAX_JOBS_READ = 10_000;

    private static final int PAGE = 1_000;

    private static final Schema AGE = Schema.object()
            .must("upTo", Schema.duration().orNull().about("null for all that are older"))
            .must("jobs", Schema.integer(0, MAX_JOBS_READ))
            .named("ParkedAge");

    private static final Schema AGES = Schema.object()
            .must("at", Schema.time())
            .must("items", Schema.array(AGE, 1, 20).about("by the time since they were enqueued, youngest first"))
            .must("looked", Schema.integer(0, MAX_JOBS_READ).about("parked jobs among the newest 10,000 that wait"))
            .must("more", Schema.bool().about("whether there may be more than were looked at"))
            .must("oldest", Schema.time().orNull().about("when the oldest of them was enqueued"))
            .named("ParkedAges");

    /** Upper ends of the ages. */
    private static final List<Duration> ENDS = List.of(
            Duration.ofSeconds(10),
            Duration.ofMinutes(1),
            Duration.ofMinutes(5),
            Duration.ofMinutes(15),
            Duration.ofHours(1),
            Duration.ofHours(6),
            Duration.ofDays(1));

    private static final int MAX_CHANGES = 200;

    /** Breakers that a tenant may keep open or closed. */
    private static final int MOST_KEPT = 1_000;

    private static final Schema CHANGE = Schema.object()
            .must("at", Schema.time())
            .must("kind", Schema.choice(ControlEvent.Kind.class))
            .must("why", Schema.text(0, 1_000))
            .named("ResourceChange");

    private final Api api;
    private final Recent.ByName<Map<String, @Nullable Object>> ages =
            new Recent.ByName<>(reader -> new Recent<>(reader, Duration.ofSeconds(1), System::nanoTime));

    public ResourceEndpoints(Api api) {
        this.api = api;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/resources", "listResources")
                        .section(SECTION)
                        .summary("Every resource of which there is something to tell")
                        .scope(Scope.READ)
                        .answers(200, "the resources", Schemas.page(RESOURCE, "Resources"))
                        .does(this::list),
                Operation.get("/v1/resources/{resource}", "getResource")
                        .section(SECTION)
                        .summary("Breaker and budget of one resource")
                        .scope(Scope.READ)
                        .path("resource", Schema.name(), "name of the resource")
                        .answers(200, "the resource", RESOURCE)
                        .does(this::get),
                Operation.get("/v1/resources/{resource}/history", "getResourceHistory")
                        .section(SECTION)
                        .summary("What the breaker and the budget of a resource went through, newest first")
                        .scope(Scope.READ)
                        .path("resource", Schema.name(), "name of the resource")
                        .query("limit", Schema.integer(1, MAX_CHANGES), "changes at most; 200 unless given")
                        .answers(
                                200,
                                "the changes of the last 31 days; workers write them down every 10 seconds",
                                Schemas.page(CHANGE, "ResourceChanges"))
                        .does(this::history),
                Operation.get("/v1/resources/{resource}/parked", "getParkedAges")
                        .section(SECTION)
                        .summary("How long the parked jobs of a resource have been there")
                        .scope(Scope.READ)
                        .path("resource", Schema.name(), "name of the resource")
                        .answers(200, "the ages; read again at most once a second", AGES)
                        .does(this::ages),
                byHand(
                        "force-open",
                        "forceOpenBreaker",
                        "Keep the breaker open, without probes",
                        Operations::forceOpen),
                byHand(
                        "force-close",
                        "forceCloseBreaker",
                        "Keep the breaker closed, whatever fails",
                        Operations::forceClose),
                byHand("automatic", "automaticBreaker", "Leave the breaker to itself again", Operations::automatic));
    }

    private Operation byHand(String action, String id, String summary, BiConsumer<Operations, String> change) {
        return Operation.post("/v1/resources/{resource}/" + action, id)
                .section(SECTION)
                .summary(summary)
                .scope(Scope.OPERATE)
                .path("resource", Schema.name(), "name of the resource")
                .optionalBody(Schemas.WHY)
                .answers(200, "the resource as it is now", RESOURCE)
                .does(request -> {
                    return api.quotas().oneByOne(request.caller().tenant(), () -> {
                        requireRoom(request);
                        change.accept(api.as(request), name(request));
                        return get(request);
                    });
                });
    }

    /** A breaker that is kept by hand stays in the store, and all workers read it. */
    private void requireRoom(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        if (tenancy.prefix() == null) {
            return;
        }
        String name = name(request);
        List<ResourceStatus> kept = api.reprise().resources().stream()
                .filter(resource -> tenancy.owns(resource.name()) && resource.force() != null)
                .toList();
        if (kept.stream().noneMatch(resource -> resource.name().equals(name))) {
            Quotas.requireRoom(kept.size(), MOST_KEPT, "breakers kept by hand", "leave one to itself");
        }
    }

    private Answer list(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        return Response.ok(Views.page(
                api.reprise().resources().stream()
                        .filter(resource -> tenancy.owns(resource.name()))
                        .map(resource -> view(resource, tenancy))
                        .toList(),
                null));
    }

    private Answer get(Request request) {
        String name = name(request);
        Optional<ResourceStatus> found = api.reprise().resources().stream()
                .filter(resource -> resource.name().equals(name))
                .findFirst();
        return Response.ok(view(
                found.orElseThrow(() -> Problem.notFound("Resource '" + request.path("resource") + "'")),
                Tenancy.of(request.caller())));
    }

    private Answer history(Request request) {
        List<ControlEvent> changes =
                api.store().controlEvents(name(request), request.integer("limit", MAX_CHANGES)).stream()
                        // A queue may have the name of a resource.
                        .filter(change -> change.kind() != ControlEvent.Kind.QUEUE_BUDGET_EMPTIED)
                        .toList();
        return Response.ok(
                Views.page(changes.stream().map(ResourceEndpoints::view).toList(), null));
    }

    private Answer ages(Request request) {
        String resource = name(request);
        return Response.ok(ages.of(resource, () -> readAges(resource)).get());
    }

    private Map<String, @Nullable Object> readAges(String resource) {
        Instant now = api.store().now();
        long[] counts = new long[ENDS.size() + 1];
        int looked = 0;
        Instant oldest = null;
        JobQuery query = JobQuery.all()
                .state(JobState.PENDING)
                .resource(resource)
                .brief()
                .limit(PAGE);
        Page<Job> page = api.reprise().find(query);
        // Most waiting jobs may be others: their number must not decide how long this takes. A first page that is not
        // full has passed over as many jobs as a page may.
        for (int pages = 1; ; pages++) {
            for (Job job : page.items()) {
                WaitReason reason = job.status().waitReason();
                if (reason == WaitReason.BREAKER || reason == WaitReason.BUDGET) {
                    Instant since = job.times().createdAt();
                    counts[age(Duration.between(since, now))]++;
                    looked++;
                    oldest = oldest == null || since.isBefore(oldest) ? since : oldest;
                }
            }
            boolean passed = pages == 1 && page.items().size() < PAGE;
            if (page.next() == null || passed || pages == MAX_JOBS_READ / PAGE) {
                break;
            }
            page = api.reprise().find(query.looks(PAGE).after(page.next()));
        }
        List<Map<String, @Nullable Object>> items = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            Map<String, @Nullable Object> item = new LinkedHashMap<>();
            item.put("upTo", i < ENDS.size() ? Views.duration(ENDS.get(i)) : null);
            item.put("jobs", counts[i]);
            items.add(item);
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("at", now);
        view.put("items", items);
        view.put("looked", looked);
        view.put("more", page.next() != null);
        view.put("oldest", oldest);
        return view;
    }

    private static int age(Duration age) {
        int at = 0;
        while (at < ENDS.size() && age.compareTo(ENDS.get(at)) > 0) {
            at++;
        }
        return at;
    }

    private static Map<String, Object> view(ControlEvent change) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("at", change.at());
        view.put("kind", change.kind());
        view.put("why", change.why());
        return view;
    }

    private static String name(Request request) {
        return Tenancy.of(request.caller()).stored("resource", request.path("resource"));
    }

    private static Map<String, @Nullable Object> view(ResourceStatus resource, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", tenancy.shown(resource.name()));
        view.put("phase", resource.phase());
        view.put("why", resource.why());
        view.put("since", resource.since());
        view.put("nextProbe", resource.nextProbe());
        view.put("ramp", ramp(resource.ramp()));
        view.put("budget", budget(resource.budget()));
        view.put("parked", resource.parked());
        ForcedBy force = resource.force();
        view.put("forcedBy", force == null ? null : force.by());
        view.put("calls", calls(resource.calls()));
        return view;
    }

    private static @Nullable Map<String, @Nullable Object> calls(ResourceStatus.@Nullable CallStatus calls) {
        if (calls == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("calls", calls.calls());
        view.put("failed", calls.failed());
        view.put("streak", calls.streak());
        view.put("opensAt", calls.opensAt());
        view.put("leastCalls", calls.leastCalls());
        view.put("opensAfter", calls.opensAfter());
        view.put("within", Views.duration(calls.within()));
        return view;
    }

    private static @Nullable Map<String, @Nullable Object> ramp(ResourceStatus.@Nullable RampStatus ramp) {
        if (ramp == null) {
            return null;
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("rate", ramp.rate());
        view.put("aim", ramp.aim());
        view.put("why", ramp.why());
        view.put("inFlight", ramp.inFlight());
        view.put("throughInSeconds", ramp.through().toMillis() / 1e3);
        return view;
    }

    private static Map<String, @Nullable Object> budget(ResourceStatus.BudgetStatus budget) {
        Duration through = budget.through();
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("level", budget.level());
        view.put("capacity", budget.capacity());
        view.put("waiting", budget.waiting());
        view.put("throughInSeconds", through == null ? null : through.toMillis() / 1e3);
        return view;
    }
}
