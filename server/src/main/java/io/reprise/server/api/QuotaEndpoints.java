// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.job.AuditNote;
import io.reprise.server.auth.Quotas;
import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Endpoints of tenants' quotas. */
public final class QuotaEndpoints implements Endpoints {

    private static final String SECTION = "Quotas";
    private static final int NO_LIMIT = Integer.MAX_VALUE;

    private static final Schema LIMITS = Schema.object()
            .must("jobs", Schema.integer(0, NO_LIMIT).about("jobs that wait"))
            .must(
                    "bytes",
                    Schema.integer(0, Long.MAX_VALUE)
                            .about("bytes of payloads, results, steps and log lines of all jobs"))
            .must("queues", Schema.integer(0, NO_LIMIT))
            .must("schedules", Schema.integer(0, NO_LIMIT))
            .must("webhooks", Schema.integer(0, NO_LIMIT))
            .must("streams", Schema.integer(0, NO_LIMIT))
            .must("jobsPerSecond", Schema.integer(1, NO_LIMIT).about("jobs that are enqueued; twice as many at once"))
            .must("bytesPerSecond", Schema.integer(1, NO_LIMIT).about("bytes of their payloads; twice as many at once"))
            .named("QuotaLimits");

    private static final Schema REQUEST = LIMITS.partial().named("QuotaRequest");

    private static final Schema QUOTA = Schema.object()
            .must("tenant", Schema.text(1, 100).orNull().about("null: a key without a tenant has no quota"))
            .must("limits", LIMITS.orNull())
            .must(
                    "use",
                    Schema.object()
                            .must("jobs", Schema.integer(0, Long.MAX_VALUE))
                            .must("bytes", Schema.integer(0, Long.MAX_VALUE).about("as measured a while ago"))
                            .must("queues", Schema.integer(0, NO_LIMIT))
                            .orNull()
                            .named("QuotaUse"))
            .named("Quota");

    private final Quotas quotas;

    public QuotaEndpoints(Quotas quotas) {
        this.quotas = quotas;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/v1/quota", "getQuota")
                        .section(SECTION)
                        .summary("What the tenant of this key may have, and what it has")
                        .scope(Scope.READ)
                        .answers(200, "the quota", QUOTA)
                        .does(request -> Response.ok(view(request.caller().tenant()))),
                one(Operation.get("/v1/quotas/{tenant}", "getTenantQuota"))
                        .summary("What a tenant may have, and what it has")
                        .answers(200, "the quota", QUOTA)
                        .does(request -> Response.ok(view(request.path("tenant")))),
                one(Operation.put("/v1/quotas/{tenant}", "putTenantQuota"))
                        .summary("Give a tenant quotas of its own; what is left out is as for all others")
                        .body(REQUEST)
                        .answers(200, "the quota", QUOTA)
                        .does(this::put));
    }

    private static Operation.Builder one(Operation.Builder operation) {
        return operation.section(SECTION).path("tenant", KeyEndpoints.TENANT, "name of the tenant");
    }

    private Answer put(Request request) {
        quotas.put(
                request.path("tenant"),
                request.fields(),
                new AuditNote(request.caller().name(), null));
        return Response.ok(view(request.path("tenant")));
    }

    private Map<String, @Nullable Object> view(@Nullable String tenant) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("tenant", tenant);
        if (tenant == null) {
            view.put("limits", null);
            view.put("use", null);
            return view;
        }
        Quotas.Use use = quotas.use(tenant);
        view.put("limits", quotas.of(tenant).view());
        view.put(
                "use",
                Map.of(
                        "jobs",
                        use.jobs(),
                        "bytes",
                        use.bytes(),
                        "queues",
                        use.queues().size()));
        return view;
    }
}
