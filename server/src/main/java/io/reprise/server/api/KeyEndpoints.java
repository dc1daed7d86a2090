// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.job.AuditNote;
import io.reprise.server.auth.KeyTerms;
import io.reprise.server.auth.Keys;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Endpoints of API keys. Only an admin sees keys, and a secret is shown once. */
public final class KeyEndpoints implements Endpoints {

    private static final String SECTION = "Keys";
    private static final Duration MAX_GRACE = Duration.ofDays(30);

    /** Scopes for operations on one job at a time. */
    private static final Set<Scope> BINDABLE = Set.of(Scope.ENQUEUE, Scope.WORK);

    private static final Schema SCOPE =
            Schema.choice(Arrays.stream(Scope.values()).map(Scope::text).toList());

    /** No slash: in stored names it ends the tenant's name. */
    static final Schema TENANT =
            Schema.text(1, 32).matching("[A-Za-z0-9][A-Za-z0-9_.-]*").about("1 to 32 letters, digits or _ . -");

    private static final Schema REQUEST = Schema.object()
            .must("name", Schema.name())
            .must("scopes", Schema.array(SCOPE, 1, Scope.values().length))
            .may(
                    "tenant",
                    TENANT.orNull()
                            .about("whose jobs it may see, 1 to 32 letters, digits or _ . -; everybody's unless given"))
            .may("owner", Schema.text(1, 200).orNull().about("who answers for it"))
            .may("expiresAt", Schema.time().orNull().about("from when on it counts no more; never unless given"))
            .may("queues", Schema.array(Schema.name(), 0, 100).about("jobs it puts in and takes out must be in these"))
            .may("types", Schema.array(Schema.name(), 0, 100).about("jobs it puts in and takes out must be of these"))
            .may(
                    "addresses",
                    Schema.array(Schema.text(1, 50), 0, 100).about("and ranges it may be used from; any unless given"))
            .may("why", Schema.text(0, 500))
            .named("KeyRequest");

    private static final Schema KEY = Schema.object()
            .must("id", Schema.text(1, 100))
            .must("name", Schema.name())
            .must("scopes", Schema.array(SCOPE, 0, 10))
            .must("tenant", TENANT.orNull())
            .must("createdAt", Schema.time())
            .must("owner", Schema.text(1, 200).orNull())
            .must("expiresAt", Schema.time().orNull())
            .must("lastUsedAt", Schema.time().orNull().about("to the minute"))
            .must("queues", Schema.array(Schema.name(), 0, 100))
            .must("types", Schema.array(Schema.name(), 0, 100))
            .must("addresses", Schema.array(Schema.text(1, 50), 0, 100))
            .named("Key");

    private static final Schema NEW_KEY = KEY.must("key", Schema.text(1, 200).about("the key itself: shown this once"))
            .named("NewKey");

    private static final Schema ROTATION = Schema.object()
            .may("grace", Schema.duration().about("how long the old secret still counts, up to 30d; 0 unless given"))
            .may("why", Schema.text(0, 500))
            .named("KeyRotation");

    private final Keys keys;

    public KeyEndpoints(Keys keys) {
        this.keys = keys;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/keys", "listKeys")
                        .section(SECTION)
                        .summary("Every key, without its secret")
                        .query("limit", Schemas.LIMIT, "keys per page; 100 unless given")
                        .query("cursor", Schema.name(), "what the page before called next")
                        .answers(200, "a page of keys", Schemas.page(KEY, "Keys"))
                        .does(request -> Response.ok(Views.page(
                                keys.list(request.integer("limit", 100), request.parameter("cursor")), key -> key))),
                Operation.post("/v1/keys", "createKey")
                        .section(SECTION)
                        .summary("Make a key")
                        .body(REQUEST)
                        .answers(201, "the key, with its text for the only time", NEW_KEY)
                        .does(this::create),
                one(Operation.get("/v1/keys/{key}", "getKey"))
                        .summary("One key, without its secret")
                        .answers(200, "the key", KEY)
                        .does(request -> Response.ok(keys.view(request.path("key")))),
                one(Operation.post("/v1/keys/{key}/rotate", "rotateKey"))
                        .summary("Give the key a new secret")
                        .optionalBody(ROTATION)
                        .answers(200, "the key, with its new text for the only time", NEW_KEY)
                        .does(this::rotate),
                one(Operation.delete("/v1/keys/{key}", "revokeKey"))
                        .summary("Revoke the key for good")
                        .query("why", Schema.text(0, 500), "is written into the audit log")
                        .answers(204, "it is gone")
                        .does(request -> {
                            keys.revoke(request.path("key"), note(request));
                            return Response.noContent();
                        }));
    }

    private static Operation.Builder one(Operation.Builder operation) {
        return operation.section(SECTION).path("key", Schema.name(), "id of the key");
    }

    private Answer create(Request request) {
        Fields fields = request.fields();
        Set<Scope> scopes = EnumSet.noneOf(Scope.class);
        fields.texts("scopes").forEach(text -> scopes.add(Scope.valueOf(text.toUpperCase(Locale.ROOT))));
        String tenant = fields.text("tenant");
        if (tenant != null && Tenancy.RESERVED.contains(tenant)) {
            throw Problem.invalid("/tenant", "must not be one of " + String.join(", ", Tenancy.RESERVED));
        }
        if (tenant != null && scopes.contains(Scope.ADMIN)) {
            throw Problem.invalid("/scopes", "a tenant's key cannot be an admin's: keys are everybody's");
        }
        KeyTerms terms = terms(fields, scopes);
        Keys.NewKey made = keys.create(fields.text("name", ""), scopes, tenant, terms, note(request));
        return Response.created("/v1/keys/" + made.view().get("id"), shown(made));
    }

    private static KeyTerms terms(Fields fields, Set<Scope> scopes) {
        KeyTerms terms = KeyTerms.of(fields);
        boolean bound = !terms.queues().isEmpty() || !terms.types().isEmpty();
        if (bound && !BINDABLE.containsAll(scopes)) {
            throw Problem.invalid(
                    "/scopes",
                    "a key that is bound to queues or types has enqueue and work only: others show all jobs");
        }
        try {
            terms.requireAddresses();
        } catch (IllegalArgumentException e) {
            throw Problem.invalid("/addresses", String.valueOf(e.getMessage()));
        }
        return terms;
    }

    private Answer rotate(Request request) {
        Duration grace = request.fields().duration("grace", Duration.ZERO);
        if (grace.compareTo(MAX_GRACE) > 0) {
            throw Problem.invalid("/grace", "must be at most 30d");
        }
        return Response.ok(shown(keys.rotate(request.path("key"), grace, note(request))));
    }

    private static Map<String, @Nullable Object> shown(Keys.NewKey made) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>(made.view());
        view.put("key", made.text());
        return view;
    }

    private static AuditNote note(Request request) {
        String why = request.parameter("why");
        return new AuditNote(
                request.caller().name(), why == null ? request.fields().text("why") : why);
    }
}
