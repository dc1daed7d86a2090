// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.server.http.Answer;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Cookies;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.Operation;
import io.reprise.server.http.Request;
import io.reprise.server.http.Response;
import io.reprise.server.http.Schema;
import io.reprise.server.http.Scope;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Endpoints by which a browser logs in, asks who it is, and logs out. */
public final class SessionEndpoints implements Endpoints {

    private static final String SECTION = "Session";

    private static final Schema SESSION = Schema.object()
            .must("name", Schema.text(1, 200).about("as in the audit log"))
            .must("scopes", Schema.array(Schema.text(1, 20), 0, Scope.values().length))
            .must("tenant", Schema.text(1, 100).orNull())
            .must("expiresAt", Schema.time().orNull().about("when a session that has just begun ends"))
            .named("Session");

    private final Sessions sessions;
    private final boolean secure;

    /** Creates the endpoints. {@code secure} says that browsers may send the cookie over TLS only. */
    public SessionEndpoints(Sessions sessions, boolean secure) {
        this.sessions = sessions;
        this.secure = secure;
    }

    @Override
    public List<Operation> operations() {
        return List.of(
                Operation.post("/v1/session", "beginSession")
                        .section(SECTION)
                        .summary("Log a browser in: the key of this request is kept as a cookie for 12 hours")
                        .scope(Scope.READ)
                        .answers(201, "who it is", SESSION)
                        .does(this::begin),
                getSession(),
                Operation.delete("/v1/session", "endSession")
                        .section(SECTION)
                        .summary("Log the browser out")
                        .scope(Scope.READ)
                        .answers(204, "the session is over")
                        .does(this::end));
    }

    /** Returns only the endpoint that says who asks, for callers that log in elsewhere. */
    public static Endpoints whoAsks() {
        return () -> List.of(getSession());
    }

    private static Operation getSession() {
        return Operation.get("/v1/session", "getSession")
                .section(SECTION)
                .summary("Who asks, and what they may do")
                .scope(Scope.READ)
                .answers(200, "who it is", SESSION)
                .does(request -> Response.ok(view(request.caller(), null)));
    }

    private Answer begin(Request request) {
        Sessions.NewSession session = sessions.begin(request.caller());
        return Response.json(201, view(request.caller(), session.expiresAt()))
                .header("Set-Cookie", Cookies.session(session.token(), Sessions.LIFE, secure));
    }

    private Answer end(Request request) {
        sessions.end(request.caller());
        return Response.noContent().header("Set-Cookie", Cookies.noSession(secure));
    }

    private static Map<String, @Nullable Object> view(Caller caller, @Nullable Instant expiresAt) {
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("name", caller.name());
        view.put(
                "scopes",
                Arrays.stream(Scope.values())
                        .filter(caller::may)
                        .map(Scope::text)
                        .toList());
        view.put("tenant", caller.tenant());
        view.put("expiresAt", expiresAt);
        return view;
    }
}
