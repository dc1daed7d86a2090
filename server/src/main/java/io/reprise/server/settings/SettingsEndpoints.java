// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.settings;

import io.reprise.job.AuditNote;
import io.reprise.server.api.PolicyBook;
import io.reprise.server.api.Schemas;
import io.reprise.server.api.Views;
import io.reprise.server.auth.Tenancy;
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
import io.reprise.settings.FleetSettings;
import io.reprise.settings.SettingsBook;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Endpoints of the fleet's settings: the whole of them, and single parts. Only keys without a tenant may use them,
 * because they apply to everybody's jobs.
 */
public final class SettingsEndpoints implements Endpoints {

    private static final String SECTION = "Settings";
    private static final String DEFAULTS = "defaults";

    private static final Schema SETTINGS = Schema.object()
            .may(DEFAULTS, Schema.object().open().about("for every job and worker"))
            .may("types", Schema.object().open().about("policy, budget and concurrency by job type"))
            .may("queues", Schema.object().open().about("policy, ceilings, order, weights, limits and rate by queue"))
            .may("resources", Schema.object().open().about("policy, breaker and budget by resource"))
            .named("FleetSettings");

    private static final Schema PART = Schema.object()
            .open()
            .named("FleetSettingsPart")
            .about("Members as in docs/settings.md; what is left out is as in file and code");

    private static final Schema WARNING =
            Schema.object().must("message", Schema.text(1, 1_000)).named("SettingsWarning");

    private final SettingsBook book;
    private final PolicyBook policies;

    public SettingsEndpoints(DocumentStore store, PolicyBook policies) {
        this.book = new SettingsBook(store);
        this.policies = policies;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/settings", "getSettings")
                        .section(SECTION)
                        .summary("Settings of the fleet that are stored; file and code say the rest")
                        .scope(Scope.READ)
                        .answers(200, "the settings", SETTINGS)
                        .does(this::get),
                Operation.get("/v1/settings/warnings", "lintSettings")
                        .section(SECTION)
                        .summary(
                                "Policies that ask for more than the ceilings allow, and limits that contradict each other")
                        .scope(Scope.READ)
                        .answers(200, "a sentence for each", Schemas.page(WARNING, "SettingsWarnings"))
                        .does(this::warnings),
                matched(Operation.put("/v1/settings", "putSettings"))
                        .summary("Replace all settings of the fleet; every worker follows within 5 s")
                        .body(SETTINGS)
                        .answers(200, "the settings as stored", SETTINGS)
                        .does(request -> change(request, "", all -> (ObjectNode) request.body())),
                matched(Operation.put("/v1/settings/defaults", "putDefaultSettings"))
                        .summary("Replace the settings for every job and worker")
                        .body(PART)
                        .answers(200, "the settings as stored", SETTINGS)
                        .does(request -> change(request, "/" + DEFAULTS, all -> {
                            all.set(DEFAULTS, request.body());
                            return all;
                        })),
                put("types", "putTypeSettings", "Replace the settings of a job type"),
                remove("types", "removeTypeSettings", "Remove the settings of a job type"),
                put("queues", "putQueueSettings", "Replace the settings of a queue"),
                remove("queues", "removeQueueSettings", "Remove the settings of a queue"),
                put("resources", "putResourceSettings", "Replace the settings of a resource"),
                remove("resources", "removeResourceSettings", "Remove the settings of a resource"));
    }

    private static Operation.Builder matched(Operation.Builder operation) {
        return operation
                .section(SECTION)
                .scope(Scope.OPERATE)
                .header("If-Match", Schema.text(1, 50), "ETag of the settings to be replaced");
    }

    private Operation put(String kind, String id, String summary) {
        return named(matched(Operation.put("/v1/settings/" + kind + "/{name}", id)))
                .summary(summary)
                .body(PART)
                .answers(200, "the settings as stored", SETTINGS)
                .does(request -> change(request, SettingsErrors.pointer(kind, request.path("name")), all -> {
                    all.withObjectProperty(kind).set(request.path("name"), request.body());
                    return all;
                }));
    }

    private Operation remove(String kind, String id, String summary) {
        return named(matched(Operation.delete("/v1/settings/" + kind + "/{name}", id)))
                .summary(summary)
                .answers(200, "the settings as stored", SETTINGS)
                .does(request -> change(request, "", all -> {
                    if (all.withObjectProperty(kind).remove(request.path("name")) == null) {
                        throw Problem.notFound("A setting of " + kind + " '" + request.path("name") + "'");
                    }
                    return all;
                }));
    }

    private static Operation.Builder named(Operation.Builder operation) {
        return operation.path("name", Schema.name(), "name, as it is stored");
    }

    /** Makes new settings from the stored ones. */
    private interface Change {
        ObjectNode of(ObjectNode stored);
    }

    private Answer get(Request request) {
        requireOperator(request);
        SettingsBook.Page page = book.read();
        return shown(page.settings(), page.version());
    }

    private Answer warnings(Request request) {
        requireOperator(request);
        return Response.ok(Views.page(
                book.warnings().stream()
                        .map(message -> Map.of("message", message))
                        .toList(),
                null));
    }

    /**
     * Changes the settings.
     *
     * @param part where in the settings the body of the request stands
     */
    private Answer change(Request request, String part, Change change) {
        requireOperator(request);
        SettingsBook.Page before = book.read();
        String match = request.parameter("If-Match");
        if (match != null && !ETags.match(match, tag(before.version()))) {
            throw Problem.of(ProblemType.VERSION_MISMATCH, "The stored version is " + before.version());
        }
        ObjectNode wanted = change.of((ObjectNode) Json.parse(before.settings().toJson()));
        FleetSettings settings = read(request, part, wanted);
        AuditNote note = new AuditNote(request.caller().name(), null)
                .changing(Json.change(Json.parse(before.settings().toJson()), Json.parse(settings.toJson())));
        OptionalLong stored;
        try {
            stored = book.replace(before, settings, note);
        } catch (IllegalArgumentException e) {
            throw Problem.invalid(beyondCeiling(part, wanted), String.valueOf(e.getMessage()));
        }
        if (stored.isEmpty()) {
            throw Problem.of(ProblemType.VERSION_MISMATCH, "Another changed the settings at the same time");
        }
        return shown(settings, stored.getAsLong());
    }

    /** A policy and a ceiling disagree: the member of the body that is one of them. The body of all settings may have many. */
    private static String beyondCeiling(String part, ObjectNode all) {
        JsonNode body = all.at(part);
        return part.isEmpty()
                ? ""
                : Stream.of("policy", "ceilings")
                        .filter(body::has)
                        .map(name -> "/" + name)
                        .findFirst()
                        .orElse("");
    }

    private FleetSettings read(Request request, String part, ObjectNode all) {
        Tenancy tenancy = Tenancy.of(request.caller());
        SettingsErrors errors = new SettingsErrors(part);
        resolve(errors, "/" + DEFAULTS, all.path(DEFAULTS), tenancy);
        for (String kind : SettingsErrors.NAMED) {
            all.path(kind)
                    .propertyStream()
                    .forEach(each ->
                            resolve(errors, SettingsErrors.pointer(kind, each.getKey()), each.getValue(), tenancy));
        }
        FleetSettings settings;
        try {
            settings = FleetSettings.fromJson(Json.text(all));
            // The stored text may be longer than the text that was sent, and it must be readable too.
            settings = FleetSettings.fromJson(settings.toJson());
        } catch (IllegalArgumentException e) {
            throw Problem.invalid(errors.in(all, String.valueOf(e.getMessage())));
        }
        if (settings.toJson().getBytes(StandardCharsets.UTF_8).length > Document.MAX_BYTES) {
            throw Problem.invalid("", "makes the settings longer than " + Document.MAX_BYTES + " bytes in all");
        }
        return settings;
    }

    /** A policy given by name is stored in full: a later change of that name does not change settings unseen. */
    private void resolve(SettingsErrors errors, String at, JsonNode part, Tenancy tenancy) {
        if (part instanceof ObjectNode object && object.path("policy").isString()) {
            String json = policies.resolve(errors.shown(at + "/policy"), object.path("policy"), tenancy)
                    .toJson();
            object.set("policy", Json.parse(json));
        }
    }

    private static void requireOperator(Request request) {
        if (request.caller().tenant() != null) {
            throw Problem.of(ProblemType.FORBIDDEN, "Settings of the fleet are not for the key of a tenant");
        }
    }

    private static Answer shown(FleetSettings settings, long version) {
        return Response.ok(Json.parse(settings.toJson())).header("ETag", tag(version));
    }

    private static String tag(long version) {
        return "\"" + version + "\"";
    }
}
