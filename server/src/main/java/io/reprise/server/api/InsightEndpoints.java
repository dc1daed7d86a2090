// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.insight.Alert;
import io.reprise.insight.Behind;
import io.reprise.insight.CostEntry;
import io.reprise.insight.Costs;
import io.reprise.insight.ErrorKey;
import io.reprise.job.AuditEntry;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobState;
import io.reprise.job.Page;
import io.reprise.job.QueueState;
import io.reprise.job.WorkerState;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Json;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Endpoints for people: workers, figures, alerts and the audit log. */
public final class InsightEndpoints implements Endpoints {

    private static final String SECTION = "Insight";
    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final String LINES = "application/x-ndjson";
    private static final int EXPORTED = 500;
    private static final Duration MAX_SINCE = Duration.ofDays(31);

    /** The name of a caller with a key. The key's name may hold any text and stands before the last bracket. */
    private static final Pattern KEY =
            Pattern.compile("(?:key|user) .* \\((?:([0-9a-f]{12})|oidc)(?: of ([A-Za-z0-9_.-]+))?\\)");

    /** Before the name of what is kept as a document, and of breakers and budgets. No tenant is called so. */
    private static final Pattern KIND_OF_SUBJECT = Pattern.compile("^(" + String.join("|", Tenancy.RESERVED) + ")/");

    private static final Schema WORKER = Schema.object()
            .must("name", Schema.text(1, 200))
            .must("offers", Schema.array(Schema.name(), 0, 8).about("to jobs that need it"))
            .must(
                    "queues",
                    Schema.array(Schema.text(1, 201), 0, NO_LIMIT).about("empty for all; name* for all that begin so"))
            .must(
                    "types",
                    Schema.array(Schema.text(1, 100), 0, NO_LIMIT)
                            .about("* for all; name#2 if it reads payloads up to version 2"))
            .must(
                    "full",
                    Schema.array(Schema.text(1, 100), 0, NO_LIMIT)
                            .about("types of which it runs as many jobs as its own limits allow"))
            .must("concurrency", Schema.integer(0, NO_LIMIT))
            .must("holding", Schema.integer(0, NO_LIMIT))
            .must("since", Schema.time())
            .must("seenAt", Schema.time())
            .named("Worker");

    private static final Schema AUDIT = Schema.object()
            .must("at", Schema.time())
            .must("action", Schema.text(1, 100))
            .must("job", Schema.id().orNull())
            .must("subject", Schema.text(1, 300).orNull())
            .must("by", Schema.text(1, 100))
            .must("key", Schema.text(1, 100).orNull().about("id of the key, if it was done with one"))
            .must("tenant", Schema.text(1, 100).orNull().about("whose key it was"))
            .must("why", Schema.text(0, 500).orNull())
            .must("detail", Schema.text(0, 2_000).orNull())
            .named("AuditEntry");

    private static final Schema SPENDING = Schema.object()
            .must("type", Schema.text(1, 100))
            .must("resource", Schema.text(1, 200).orNull())
            .must("error", Schema.text(0, 100).orNull().about("fingerprint of what was retried; null for first runs"))
            .must("errorType", Schema.text(0, 500).orNull())
            .must("unit", Schema.text(1, 100).about("seconds, or what handlers report in"))
            .must("runs", Schema.integer(0, Long.MAX_VALUE))
            .must("successes", Schema.integer(0, Long.MAX_VALUE))
            .must("amount", Schema.number(0, Double.MAX_VALUE).about("of all these runs"))
            .must("wasted", Schema.number(0, Double.MAX_VALUE).about("of those that did not succeed"))
            .named("Spending");

    private static final Schema COSTS = Schema.object()
            .must("jobs", Schema.integer(0, Long.MAX_VALUE))
            .must("retries", Schema.integer(0, Long.MAX_VALUE))
            .must("saved", Schema.integer(0, Long.MAX_VALUE).about("jobs that succeeded because they were retried"))
            .must("retryTime", Schema.duration())
            .must("wastedRetryTime", Schema.duration())
            .must("sentence", Schema.text(1, 500))
            .must("entries", Schema.array(SPENDING, 0, NO_LIMIT).about("by type, resource, error and unit"))
            .orNull()
            .named("Costs");

    private static final Schema ALERT = Schema.object()
            .must("kind", Schema.choice(Alert.Kind.class))
            .must("type", Schema.text(1, 100))
            .must("value", Schema.number(0, Double.MAX_VALUE))
            .must("threshold", Schema.number(0, Double.MAX_VALUE))
            .must("since", Schema.time())
            .must("message", Schema.text(1, 1_000))
            .named("Alert");

    private static final Schema UPKEEP = Schema.object()
            .must("piece", Schema.text(1, 100))
            .must("rows", Schema.integer(0, NO_LIMIT))
            .must("seconds", Schema.number(0, Double.MAX_VALUE))
            .named("Upkeep");

    private static final Schema STATS = Schema.object()
            .must("at", Schema.time())
            .must("counts", Schemas.COUNTS)
            .must("countsAtLeast", Schemas.COUNTS_AT_LEAST)
            .must("queues", Schema.integer(0, NO_LIMIT))
            .must("workers", Schema.integer(0, NO_LIMIT))
            .must("costs", COSTS)
            .must("alerts", Schema.array(ALERT, 0, NO_LIMIT))
            .must("upkeep", Schema.array(UPKEEP, 0, NO_LIMIT).about("pieces of upkeep that are behind"))
            .named("Stats");

    private final Api api;

    public InsightEndpoints(Api api) {
        this.api = api;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/workers", "listWorkers")
                        .section(SECTION)
                        .summary("The workers that live, as of their last report")
                        .scope(Scope.READ)
                        .answers(200, "the workers", Schemas.page(WORKER, "Workers"))
                        .does(this::workers),
                Operation.get("/v1/stats", "getStats")
                        .section(SECTION)
                        .summary("Jobs by state, what retries cost and saved, and alerts")
                        .scope(Scope.READ)
                        .query("since", Schema.duration(), "how far back costs are counted, up to 31d; 1d unless given")
                        .answers(200, "figures", STATS)
                        .does(this::stats),
                Operation.get("/v1/audit", "listAudit")
                        .section(SECTION)
                        .summary("What was done by hand, newest first")
                        .scope(Scope.READ)
                        .query("job", Schema.id(), "only to this job")
                        .query("limit", Schemas.LIMIT, "entries at most; 100 unless given")
                        .query("cursor", Schemas.CURSOR, "what the page before called next")
                        .answers(200, "entries", Schemas.page(AUDIT, "Audit"))
                        .does(this::audit),
                Operation.get("/v1/audit/export", "exportAudit")
                        .section(SECTION)
                        .summary("All of it in one stream, an AuditEntry as JSON in each line, newest first")
                        .scope(Scope.READ)
                        .query("since", Schema.time(), "only what was done at this time or later")
                        .answersEach(200, "entries; whole only if the answer ends well", LINES, AUDIT)
                        .does(this::export));
    }

    private Answer workers(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        return Response.ok(Views.page(
                api.reprise().workers().stream()
                        .filter(worker -> tenancy.owns(worker.name()))
                        .map(worker -> view(worker, tenancy))
                        .toList(),
                null));
    }

    private static Map<String, @Nullable Object> view(WorkerState worker, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", tenancy.shown(worker.name()));
        view.put("queues", worker.report().named().stream().map(tenancy::shown).toList());
        view.put("offers", List.copyOf(worker.report().offers()));
        view.put("types", worker.report().handled());
        view.put("full", List.copyOf(worker.report().full()));
        view.put("concurrency", worker.report().concurrency());
        view.put("holding", worker.report().holding());
        view.put("since", worker.since());
        view.put("seenAt", worker.seenAt());
        return view;
    }

    private Answer stats(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Duration since = request.duration("since", Duration.ofDays(1));
        List<QueueState> queues = api.queues().get().stream()
                .filter(queue -> tenancy.owns(queue.name()))
                .toList();
        Map<String, Long> counts = new LinkedHashMap<>();
        for (JobState state : JobState.values()) {
            counts.put(
                    state.name(),
                    queues.stream().mapToLong(queue -> queue.count(state)).sum());
        }
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("at", api.store().now());
        view.put("counts", counts);
        view.put(
                "countsAtLeast",
                queues.stream()
                        .flatMap(queue -> queue.atLeast().stream())
                        .distinct()
                        .sorted()
                        .toList());
        view.put("queues", queues.size());
        view.put(
                "workers",
                api.reprise().workers().stream()
                        .filter(worker -> tenancy.owns(worker.name()))
                        .count());
        // Costs and alerts are kept by type for the whole fleet, so a tenant does not see them.
        boolean all = tenancy.prefix() == null;
        view.put("costs", all ? costs(since) : null);
        view.put(
                "alerts",
                all
                        ? api.reprise().alerts().stream()
                                .map(InsightEndpoints::view)
                                .toList()
                        : List.of());
        view.put(
                "upkeep",
                all
                        ? api.reprise().upkeep().stream()
                                .map(InsightEndpoints::view)
                                .toList()
                        : List.of());
        return Response.ok(view);
    }

    private static Map<String, Object> view(Behind behind) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("piece", behind.piece());
        view.put("rows", behind.rows());
        view.put("seconds", behind.by().toMillis() / 1e3);
        return view;
    }

    private Map<String, @Nullable Object> costs(Duration since) {
        Costs costs = api.reprise().costs(since.compareTo(MAX_SINCE) > 0 ? MAX_SINCE : since);
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("jobs", costs.jobs());
        view.put("retries", costs.retries());
        view.put("saved", costs.saved());
        view.put("retryTime", Views.duration(costs.retryTime()));
        view.put("wastedRetryTime", Views.duration(costs.wastedRetryTime()));
        view.put("sentence", costs.sentence());
        view.put("entries", costs.entries().stream().map(InsightEndpoints::view).toList());
        return view;
    }

    private static Map<String, @Nullable Object> view(CostEntry spending) {
        ErrorKey cause = spending.cause();
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("type", cause.type());
        view.put("resource", cause.resource());
        view.put("error", cause.isFirst() ? null : cause.error());
        view.put("errorType", cause.isFirst() ? null : cause.errorType());
        view.put("unit", spending.unit());
        view.put("runs", spending.runs());
        view.put("successes", spending.successes());
        view.put("amount", spending.amount());
        view.put("wasted", spending.wasted());
        return view;
    }

    private static Map<String, @Nullable Object> view(Alert alert) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("kind", alert.kind());
        view.put("type", alert.type());
        view.put("value", alert.value());
        view.put("threshold", alert.threshold());
        view.put("since", alert.since());
        view.put("message", alert.message());
        return view;
    }

    private Answer audit(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        String id = request.parameter("job");
        JobId job = id == null ? null : api.job(request, id).id();
        Page<AuditEntry> page = page(job, request);
        List<Map<String, @Nullable Object>> entries = page.items().stream()
                .filter(entry -> isFor(entry, tenancy))
                .map(entry -> view(entry, tenancy))
                .toList();
        return Response.ok(Views.page(entries, page.next()));
    }

    private Page<AuditEntry> page(@Nullable JobId job, Request request) {
        try {
            return api.store().audit(job, request.integer("limit", 100), request.parameter("cursor"));
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("cursor", "is not one that a page called next");
        }
    }

    /** Writes page by page; each page when the client has taken the page before. */
    private Answer export(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        Instant since = Objects.requireNonNullElse(request.time("since"), Instant.MIN);
        Supplier<@Nullable String> pages = new Supplier<>() {
            private @Nullable String cursor;
            private boolean ended;

            @Override
            public @Nullable String get() {
                if (ended) {
                    return null;
                }
                Page<AuditEntry> page = api.store().audit(null, EXPORTED, cursor);
                cursor = page.next();
                ended = cursor == null
                        || page.items().stream().anyMatch(entry -> entry.at().isBefore(since));
                return page.items().stream()
                        .filter(entry -> !entry.at().isBefore(since) && isFor(entry, tenancy))
                        .map(entry -> Json.text(view(entry, tenancy)) + "\n")
                        .collect(Collectors.joining());
            }
        };
        return new Answer.Parts(LINES, pages, () -> {});
    }

    /** Whether a tenant may see an entry: the tenant did it, or it concerns something of the tenant. */
    private boolean isFor(AuditEntry entry, Tenancy tenancy) {
        if (tenancy.prefix() == null) {
            return true;
        }
        if (tenancy.isBy(entry.note().by())) {
            return true;
        }
        if (AuditWriter.ABOUT_CALLERS.contains(entry.action())) {
            return false;
        }
        JobId job = entry.job();
        String subject = entry.subject();
        return job == null
                ? subject != null
                        && tenancy.owns(KIND_OF_SUBJECT.matcher(subject).replaceFirst(""))
                : api.reprise().find(job).map(Job::queue).filter(tenancy::owns).isPresent();
    }

    private static Map<String, @Nullable Object> view(AuditEntry entry, Tenancy tenancy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("at", entry.at());
        view.put("action", entry.action());
        view.put("job", entry.job() == null ? null : entry.job().toString());
        view.put("subject", subject(entry.subject(), tenancy));
        view.put("by", entry.note().by());
        Matcher key = KEY.matcher(entry.note().by());
        boolean known = key.matches();
        view.put("key", known ? key.group(1) : null);
        view.put("tenant", known ? key.group(2) : null);
        view.put("why", entry.note().why());
        view.put("detail", entry.detail() == null ? null : tenancy.shownIn(entry.detail()));
        return view;
    }

    /** Returns a subject such as breaker/acme/mail as the caller knows it: breaker/mail. */
    private static @Nullable String subject(@Nullable String stored, Tenancy tenancy) {
        if (stored == null) {
            return null;
        }
        Matcher kind = KIND_OF_SUBJECT.matcher(stored);
        int name = kind.lookingAt() ? kind.end() : 0;
        return stored.substring(0, name) + tenancy.shown(stored.substring(name));
    }
}
