// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.client;

import io.reprise.job.RepriseException;
import io.reprise.server.LocalApi;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Json;
import io.reprise.server.http.Problem;
import io.reprise.server.http.Scope;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A link straight to a store, as an admin: a user who can open the store may do everything anyway. */
public final class StoreLink implements Link {

    private static final long LOOK_NANOS = 500_000_000;
    private static final int WATCHED = 1_000;

    private final LocalApi api;
    private final Caller caller;

    /** Creates a link in the name of this user, for the audit log. */
    public StoreLink(LocalApi api, String user) {
        this.api = api;
        this.caller = new Caller(user, Set.of(Scope.ADMIN), null);
    }

    @Override
    public String where() {
        return "the store";
    }

    @Override
    public String scope() {
        return "the store";
    }

    @Override
    public JsonNode call(String method, ServerTarget target, @Nullable JsonNode body) {
        try {
            JsonNode answer = api.call(caller, method, target.toString(), body);
            return answer == null ? Json.object() : answer;
        } catch (Problem e) {
            throw LinkException.refused(Problems.text(e.detail(), Json.tree(e.errors())), e);
        } catch (RepriseException e) {
            throw LinkException.unavailable("Cannot use the store: " + e.getMessage(), e);
        }
    }

    /** The process that runs a job publishes its events. Here only changes between two reads can be reported. */
    @Override
    public void follow(ServerTarget filter, Predicate<JsonNode> each) {
        Map<String, String> known = null;
        while (!Thread.currentThread().isInterrupted()) {
            Map<String, String> now = new HashMap<>();
            for (JsonNode job : look(filter)) {
                String id = job.path("id").stringValue("");
                String step = job.path("state").stringValue() + job.path("attempts") + job.path("dueAt");
                now.put(id, step);
                if (known != null && !step.equals(known.get(id)) && !each.test(event(job, !known.containsKey(id)))) {
                    return;
                }
            }
            known = now;
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    private Iterable<JsonNode> look(ServerTarget filter) {
        String job = filter.parameter("job");
        if (job != null) {
            return List.of(get(ServerTarget.of("jobs", job)));
        }
        return get(ServerTarget.of("jobs")
                        .with("queue", filter.parameter("queue"))
                        .with("type", filter.parameter("type"))
                        .with("limit", WATCHED))
                .path("items");
    }

    private static ObjectNode event(JsonNode job, boolean isNew) {
        String state = job.path("state").stringValue("");
        boolean waits = state.equals("PENDING");
        ObjectNode event = Json.object();
        event.put("kind", waits ? (isNew ? "ENQUEUED" : "WAITING") : state.equals("RUNNING") ? "STARTED" : state);
        event.set("id", job.path("id"));
        event.set("type", job.path("type"));
        event.set("queue", job.path("queue"));
        event.set("resource", job.path("resource"));
        event.set("attempt", job.path("attempts"));
        event.put("at", InstantSource.system().instant().toString());
        event.set("dueAt", waits ? job.path("dueAt") : Json.object().nullNode());
        event.set("failure", job.path("lastError"));
        return event;
    }

    @Override
    public void close() {
        api.close();
    }
}
