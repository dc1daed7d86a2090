// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.server.http.Answer;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.OpenApi;
import io.reprise.server.http.OpenApiPage;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Endpoints for health, readiness, metrics and the API document. */
public final class SystemEndpoints implements Endpoints {

    private static final String SECTION = "System";

    private static final Schema HEALTH = Schema.object()
            .must("status", Schema.choice(List.of("ok", "unavailable")))
            .must("problems", Schema.array(Schema.text(1, 500), 0, 100))
            .named("Health");

    private final Readiness readiness;
    private final Supplier<String> metrics;
    private final String version;
    private final Supplier<List<Operation>> all;
    private volatile @Nullable Response document;

    /**
     * Creates the system endpoints.
     *
     * @param metrics metrics in the format of Prometheus
     * @param all every operation of the server, these included
     */
    public SystemEndpoints(
            Readiness readiness, Supplier<String> metrics, String version, Supplier<List<Operation>> all) {
        this.readiness = readiness;
        this.metrics = metrics;
        this.version = version;
        this.all = all;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.get("/healthz", "health")
                        .section(SECTION)
                        .summary("Whether the process lives, with all parts of its engine")
                        .forAnyone()
                        .answers(200, "it does", HEALTH)
                        .answers(503, "a part does not come back: only a new process helps", HEALTH)
                        .does(request -> health(readiness.deadlocks())),
                Operation.get("/readyz", "ready")
                        .section(SECTION)
                        .summary("Whether it can work, and if not, what is wrong")
                        .forAnyone()
                        .answers(200, "it can", HEALTH)
                        .answers(503, "it cannot", HEALTH)
                        .does(this::ready),
                Operation.get("/metrics", "metrics")
                        .section(SECTION)
                        .summary("Metrics for Prometheus")
                        .scope(Scope.READ)
                        .answersAs(200, "text format 0.0.4", "text/plain")
                        .does(this::metrics),
                Operation.get("/openapi.json", "openApi")
                        .section(SECTION)
                        .summary("This description")
                        .forAnyone()
                        .answers(200, "OpenAPI 3.1", Schema.object().open())
                        .does(request -> document()),
                Operation.get("/api", "apiPage")
                        .section(SECTION)
                        .summary("This description for people")
                        .forAnyone()
                        .answersAs(200, "a page", "text/html")
                        .does(request -> OpenApiPage.response(all.get(), version)));
    }

    /** Built once, because anyone may request it as often as they like. */
    private Response document() {
        Response made = document;
        if (made == null) {
            made = Response.ok(OpenApi.document(all.get(), version));
            document = made;
        }
        return made;
    }

    /** Metrics cover the whole process, with the names of all queues and resources. So a tenant may not read them. */
    private Answer metrics(Request request) {
        if (request.caller().tenant() != null) {
            throw Problem.of(ProblemType.FORBIDDEN, "Metrics are of all tenants: this needs a key without one");
        }
        return Response.text("text/plain; version=0.0.4; charset=utf-8", metrics.get());
    }

    private Answer ready(Request request) {
        return new Answer.Later(readiness.problems().thenApply(SystemEndpoints::health));
    }

    private static Response health(List<String> problems) {
        boolean ok = problems.isEmpty();
        return Response.json(ok ? 200 : 503, Map.of("status", ok ? "ok" : "unavailable", "problems", problems));
    }
}
