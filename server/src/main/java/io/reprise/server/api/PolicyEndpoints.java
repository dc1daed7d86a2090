// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.job.AuditNote;
import io.reprise.job.Page;
import io.reprise.retry.Presets;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.config.PolicyWarnings;
import io.reprise.server.http.Answer;
import io.reprise.server.http.ETags;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Json;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import io.reprise.store.Document;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Endpoints of named retry policies and of previews. */
public final class PolicyEndpoints implements Endpoints {

    private static final String SECTION = "Policies";

    /** Policies that a tenant may keep. */
    static final int MAX_POLICIES = 1_000;

    private static final Schema POLICY = Schema.object()
            .must("name", Schema.name())
            .must("version", Schema.integer(0, Integer.MAX_VALUE).about("0 for a preset"))
            .must("preset", Schema.bool())
            .must("policy", Schemas.POLICY)
            .named("NamedPolicy");

    private static final Schema STEP = Schema.object()
            .must("retry", Schema.integer(1, 1_000))
            .must("raw", Schema.duration())
            .must("min", Schema.duration())
            .must("max", Schema.duration())
            .must("mean", Schema.duration())
            .must("latest", Schema.duration().about("after the first attempt, at the latest"))
            .named("PlanStep");

    private static final Schema WARNING = Schema.object()
            .must("code", Schema.text(1, 100))
            .must("message", Schema.text(1, 1_000))
            .named("PolicyWarning");

    private static final Schema BRANCH = Schema.object()
            .must("branch", Schema.text(1, 200).about("what it matches"))
            .must("maxAttempts", Schema.integer(1, Integer.MAX_VALUE).orNull())
            .must("never", Schema.bool())
            .must("counts", Schema.bool().about("whether such a failure spends an attempt"))
            .must("steps", Schema.array(STEP, 0, 1_000).about("if all failures were of this branch"))
            .named("PlanBranch");

    private static final int SAMPLES = 5;

    private static final Schema PLAN = Schema.object()
            .must("maxAttempts", Schema.integer(1, Integer.MAX_VALUE).orNull())
            .must("steps", Schema.array(STEP, 0, 1_000))
            .must("branches", Schema.array(BRANCH, 0, 200))
            .must("warnings", Schema.array(WARNING, 0, 1_000))
            .must(
                    "samples",
                    Schema.array(Schema.array(Schema.duration(), 0, 1_000), SAMPLES, SAMPLES)
                            .about("the delays of five jobs of which every attempt failed, drawn with their jitter"))
            .named("RetryPlan");

    private final Api api;
    private final PolicyBook policies;

    public PolicyEndpoints(Api api, PolicyBook policies) {
        this.api = api;
        this.policies = policies;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/policies", "listPolicies")
                        .section(SECTION)
                        .summary("Stored policies; presets come on the first page")
                        .scope(Scope.READ)
                        .query("limit", Schemas.LIMIT, "stored policies per page; 100 unless given")
                        .query("cursor", Schema.name(), "what the page before called next")
                        .answers(200, "a page of policies", Schemas.page(POLICY, "Policies"))
                        .does(this::list),
                one(Operation.get("/v1/policies/{policy}", "getPolicy"))
                        .summary("One policy, stored or preset")
                        .scope(Scope.READ)
                        .answers(200, "the policy", POLICY)
                        .does(this::get),
                one(Operation.put("/v1/policies/{policy}", "putPolicy"))
                        .summary("Store a policy under a name; jobs enqueued before keep what they had")
                        .scope(Scope.OPERATE)
                        .header(
                                "If-Match",
                                Schema.text(1, 50),
                                "ETag of the version to be replaced; \"0\" to create only")
                        .query("why", Schema.text(0, 500), "is written into the audit log")
                        .body(Schemas.POLICY)
                        .answers(200, "the policy as stored", POLICY)
                        .does(this::put),
                one(Operation.delete("/v1/policies/{policy}", "deletePolicy"))
                        .summary("Remove a stored policy; jobs that were enqueued with it keep it")
                        .scope(Scope.OPERATE)
                        .query("why", Schema.text(0, 500), "is written into the audit log")
                        .answers(204, "it is gone")
                        .does(this::delete),
                Operation.post("/v1/policies/preview", "previewPolicy")
                        .section(SECTION)
                        .summary("When would the retries come, and is anything odd about the policy?")
                        .scope(Scope.READ)
                        .query("retries", Schema.integer(0, 1_000), "how many to show; all, or 20, unless given")
                        .body(Schemas.POLICY_OR_NAME)
                        .answers(200, "the plan", PLAN)
                        .does(this::preview),
                Operation.post("/v1/policies/lint", "lintPolicy")
                        .section(SECTION)
                        .summary("What is legal in the policy but probably not meant")
                        .scope(Scope.READ)
                        .body(Schemas.POLICY_OR_NAME)
                        .answers(200, "warnings", Schemas.page(WARNING, "PolicyWarnings"))
                        .does(this::lint));
    }

    private static Operation.Builder one(Operation.Builder operation) {
        return operation.section(SECTION).path("policy", Schema.name(), "name of the policy");
    }

    private Answer list(Request request) {
        Tenancy tenancy = Tenancy.of(request.caller());
        String cursor = request.parameter("cursor");
        int limit = request.integer("limit", 100);
        String prefix = tenancy.prefix();
        // Ids of a tenant are adjacent, and the prefix itself is no id.
        String after = cursor != null ? tenancy.stored("cursor", cursor) : prefix;
        Page<Document> page = api.store().documents(PolicyBook.KIND, limit, after);
        List<Map<String, @Nullable Object>> items = new ArrayList<>();
        if (cursor == null) {
            Presets.names().forEach(name -> items.add(view(name, 0, Presets.get(name))));
        }
        boolean foreign = page.items().stream().anyMatch(document -> !tenancy.owns(document.id()));
        page.items().stream()
                .filter(document -> tenancy.owns(document.id()))
                .forEach(document ->
                        items.add(view(tenancy.shown(document.id()), document.version(), PolicyBook.policy(document))));
        return Response.ok(Views.page(items, foreign ? null : tenancy.shownOrNull(page.next())));
    }

    private Answer get(Request request) {
        String name = request.path("policy");
        Optional<Document> stored = document(request);
        if (stored.isPresent()) {
            Document document = stored.get();
            return Response.ok(view(name, document.version(), PolicyBook.policy(document)))
                    .header("ETag", tag(document.version()));
        }
        if (!Presets.names().contains(name)) {
            throw Problem.notFound("Policy '" + name + "'");
        }
        return Response.ok(view(name, 0, Presets.get(name))).header("ETag", tag(0));
    }

    private Answer put(Request request) {
        String name = request.path("policy");
        requireNoPreset(name);
        RetryPolicy policy = PolicyBook.read("", request.body());
        requireWithin(name, policy, request.body());
        return api.quotas().oneByOne(request.caller().tenant(), () -> put(request, policy));
    }

    private Answer put(Request request, RetryPolicy policy) {
        Optional<Document> before = document(request);
        long version = before.map(Document::version).orElse(0L);
        String match = request.parameter("If-Match");
        // A star matches any existing version.
        boolean none = "*".equals(match) && before.isEmpty();
        if (match != null && (none || !ETags.match(match, tag(version)))) {
            throw Problem.of(ProblemType.VERSION_MISMATCH, "The stored version is " + version);
        }
        if (before.isEmpty()) {
            requireRoom(Tenancy.of(request.caller()));
        }
        String json = Json.text(Map.of("policy", Json.parse(policy.toJson())));
        Document document = new Document(PolicyBook.KIND, id(request), version, json);
        OptionalLong stored = api.store()
                .putDocument(
                        document,
                        "put-policy",
                        note(request).changing(Json.change(content(before.orElse(null)), content(document))));
        if (stored.isEmpty()) {
            throw Problem.of(ProblemType.VERSION_MISMATCH, "Another changed it at the same time");
        }
        return Response.ok(view(request.path("policy"), stored.getAsLong(), policy))
                .header("ETag", tag(stored.getAsLong()));
    }

    private void requireWithin(String name, RetryPolicy policy, JsonNode body) {
        String refusal = beyondCeiling(name, policy);
        if (refusal != null) {
            String field = Stream.of("maxAttempts", "deadline", "branches")
                    .filter(member -> beyondCeiling(name, without(member, body)) == null)
                    .findFirst()
                    .map(member -> "/" + member)
                    .orElse("");
            throw Problem.invalid(field, refusal);
        }
    }

    private @Nullable String beyondCeiling(String name, RetryPolicy policy) {
        try {
            policies.requireWithin("policy '" + name + "'", policy);
            return null;
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static RetryPolicy without(String member, JsonNode body) {
        ObjectNode rest = (ObjectNode) body.deepCopy();
        rest.remove(member);
        return PolicyBook.read("", rest);
    }

    private void requireRoom(Tenancy tenancy) {
        if (tenancy.prefix() != null) {
            long own = api.store().documents(PolicyBook.KIND, MAX_POLICIES, tenancy.prefix()).items().stream()
                    .filter(document -> tenancy.owns(document.id()))
                    .count();
            Quotas.requireRoom(own, MAX_POLICIES, "policies", "delete one");
        }
    }

    private static @Nullable Object content(@Nullable Document document) {
        return document == null ? null : Json.parse(document.json()).get("policy");
    }

    private static void requireNoPreset(String name) {
        if (Presets.names().contains(name)) {
            throw Problem.invalid("policy", "is the name of a preset, which cannot be changed");
        }
    }

    private Answer delete(Request request) {
        String name = request.path("policy");
        requireNoPreset(name);
        Document document = document(request).orElseThrow(() -> Problem.notFound("Policy '" + name + "'"));
        if (!api.store()
                .removeDocument(
                        document, "delete-policy", note(request).changing(Json.change(content(document), null)))) {
            throw Problem.of(ProblemType.VERSION_MISMATCH, "Another changed it at the same time");
        }
        return Response.noContent();
    }

    private Answer preview(Request request) {
        RetryPolicy policy = resolve(request);
        int retries = request.integer(
                "retries", policy.complete().maxAttempts().toOptional().orElse(21) - 1);
        RetryPlan plan = RetryPlan.of(policy, Math.min(retries, 1_000));
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("maxAttempts", policy.complete().maxAttempts().toOptional().orElse(null));
        view.put("steps", plan.steps().stream().map(PolicyEndpoints::step).toList());
        view.put(
                "branches",
                plan.branches().stream().map(PolicyEndpoints::branch).toList());
        view.put("warnings", warnings(policy, plan));
        view.put("samples", samples(policy, plan.steps().size()));
        return Response.ok(view);
    }

    /** Draws as the engine does. The seed is fixed, so that the same policy shows the same jobs. */
    private static List<List<@Nullable String>> samples(RetryPolicy policy, int retries) {
        RetryPolicy whole = policy.complete();
        List<List<@Nullable String>> samples = new ArrayList<>();
        for (int job = 0; job < SAMPLES; job++) {
            RandomGenerator random = new SplittableRandom(job);
            List<@Nullable String> delays = new ArrayList<>();
            Duration last = null;
            for (int retry = 1; retry <= retries; retry++) {
                last = whole.delay(retry, last, random);
                delays.add(Views.duration(last));
            }
            samples.add(delays);
        }
        return samples;
    }

    private static Map<String, @Nullable Object> branch(RetryPlan.BranchPlan plan) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("branch", plan.branch().name());
        view.put("maxAttempts", plan.maxAttempts());
        view.put("never", plan.branch().isNever());
        view.put("counts", plan.branch().counts());
        view.put("steps", plan.steps().stream().map(PolicyEndpoints::step).toList());
        return view;
    }

    private static Map<String, @Nullable Object> step(RetryPlan.Step step) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("retry", step.retry());
        view.put("raw", Views.duration(step.raw()));
        view.put("min", Views.duration(step.min()));
        view.put("max", Views.duration(step.max()));
        view.put("mean", Views.duration(step.mean()));
        view.put("latest", Views.duration(step.cumulativeMax()));
        return view;
    }

    private Answer lint(Request request) {
        RetryPolicy policy = resolve(request);
        return Response.ok(Views.page(warnings(policy, RetryPlan.of(policy, 0)), null));
    }

    private static List<Map<String, String>> warnings(RetryPolicy policy, RetryPlan plan) {
        return PolicyWarnings.of(policy, plan).stream()
                .map(warning -> Map.of("code", warning.code(), "message", warning.message()))
                .toList();
    }

    private RetryPolicy resolve(Request request) {
        return policies.resolve("", request.body(), Tenancy.of(request.caller()));
    }

    private static String id(Request request) {
        return Tenancy.of(request.caller()).stored("policy", request.path("policy"));
    }

    private Optional<Document> document(Request request) {
        return api.store().document(PolicyBook.KIND, id(request));
    }

    private static AuditNote note(Request request) {
        return new AuditNote(request.caller().name(), request.parameter("why"));
    }

    private static String tag(long version) {
        return "\"" + version + "\"";
    }

    private static Map<String, @Nullable Object> view(String name, long version, RetryPolicy policy) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", name);
        view.put("version", version);
        view.put("preset", version == 0);
        view.put("policy", Json.raw(policy.toJson()));
        return view;
    }
}
