// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.delivery.Stub;
import io.reprise.server.http.Json;
import io.reprise.server.http.Scope;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Walks every operation as one tenant with the ids, names, keys, tokens and cursors of another. Whatever it answers, it shows
 * nothing of the other's and changes nothing of it. An operation without a row here fails the test.
 */
class TwoTenantsTest {

    /** In every name and text of the victim's, so that one look finds a leak. */
    private static final String MARK = "zz9";

    private static final Scope[] ALL = {Scope.READ, Scope.ENQUEUE, Scope.WORK, Scope.OPERATE};

    /** Changes by itself from one look to the next. */
    private static final Set<String> VOLATILE = Set.of("oldestAge", "seenAt", "at", "prediction");

    private final TestServer server = new TestServer();
    private final Stub receiver = new Stub(seen -> Stub.Reply.of(200));
    private final String victim = server.key(MARK, "victim", ALL);
    private final String evil = server.key("evil", "evil", ALL);

    private String waiting = "";
    private String running = "";
    private String dead = "";
    private String token = "";
    private String webhook = "";
    private String delivery = "";
    private String replay = "";
    private String cursor = "";
    private String bulk = "";
    private String victimsKeyId = "";

    /** What is asked, and what may come of it. */
    private record Ask(String method, String path, @Nullable String body, Set<Integer> statuses) {}

    private static Ask get(String path, Integer... statuses) {
        return new Ask("GET", path, null, Set.of(statuses));
    }

    private static Ask post(String path, @Nullable String body, Integer... statuses) {
        return new Ask("POST", path, body, Set.of(statuses));
    }

    private static Ask put(String path, String body, Integer... statuses) {
        return new Ask("PUT", path, body, Set.of(statuses));
    }

    private static Ask delete(String path, Integer... statuses) {
        return new Ask("DELETE", path, null, Set.of(statuses));
    }

    @BeforeEach
    void everything_a_victim_can_have() {
        String job = "{\"type\":\"zz9-type\",\"queue\":\"zz9-queue\",\"resource\":\"zz9-resource\",\"delay\":\"1d\","
                + "\"key\":\"zz9-key\",\"idempotencyKey\":\"zz9-once\",\"tags\":[\"zz9-tag\"],"
                + "\"payload\":{\"secret\":\"zz9-payload\"}}";
        waiting = as(victim, "POST", "/v1/jobs", job).text("id");
        as(victim, "POST", "/v1/jobs", job.replace("zz9-key", "zz9-key2").replace("zz9-once", "zz9-twice"));
        dead = as(victim, "POST", "/v1/jobs", "{\"type\":\"zz9-type\",\"queue\":\"zz9-dead\"}")
                .text("id");
        String failing = lease("zz9-dead");
        as(
                victim,
                "POST",
                "/v1/leases/" + failing + "/fail",
                "{\"type\":\"zz9-error\",\"message\":\"zz9-message\",\"permanent\":true}");
        running = as(victim, "POST", "/v1/jobs", "{\"type\":\"zz9-type\",\"queue\":\"zz9-running\"}")
                .text("id");
        token = lease("zz9-running");
        as(victim, "PUT", "/v1/errors/zz9-print/note", "{\"text\":\"zz9-note\"}");
        as(victim, "PUT", "/v1/policies/zz9-policy", "{\"maxAttempts\":7}");
        as(victim, "PUT", "/v1/batches/zz9-batch", "{\"onEnd\":{\"type\":\"zz9-type\",\"queue\":\"zz9-after\"}}");
        as(
                victim,
                "POST",
                "/v1/batches/zz9-batch/jobs",
                "{\"type\":\"zz9-type\",\"queue\":\"zz9-batch\",\"delay\":\"1d\"}");
        as(
                victim,
                "PUT",
                "/v1/schedules/zz9-schedule",
                "{\"every\":\"1000d\",\"job\":{\"type\":\"zz9-type\",\"payload\":\"zz9-scheduled\"}}");
        as(victim, "PUT", "/v1/queues/zz9-queue", "{\"maxRunning\":3}");
        as(victim, "POST", "/v1/queues/zz9-queue/pause", "{\"why\":\"zz9-why\"}");
        as(victim, "POST", "/v1/resources/zz9-resource/force-open", "{\"why\":\"zz9-why\"}");
        webhook = as(
                        victim,
                        "POST",
                        "/v1/webhooks",
                        "{\"url\":\"" + receiver.url("/zz9")
                                + "\",\"description\":\"zz9-hook\",\"tags\":[\"zz9-none\"],"
                                + "\"headers\":{\"X-Zz9\":\"zz9-header\"}}")
                .text("id");
        delivery = as(victim, "POST", "/v1/webhooks/" + webhook + "/ping", null).text("id");
        TestServer.await(() ->
                as(victim, "GET", "/v1/jobs/" + delivery, null).text("state").equals("SUCCEEDED") ? true : null);
        replay = as(victim, "POST", "/v1/replays", "{\"filter\":{\"queue\":\"zz9-nothing\"},\"why\":\"zz9-why\"}")
                .text("id");
        TestServer.await(() ->
                as(victim, "GET", "/v1/replays/" + replay, null).text("state").equals("DONE") ? true : null);
        bulk = as(victim, "POST", "/v1/bulks", "{\"action\":\"cancel\",\"q\":\"state:pending queue:zz9-nothing\"}")
                .text("id");
        cursor = as(victim, "GET", "/v1/jobs?limit=1", null).text("next");
        victimsKeyId = victim.split("_", -1)[1];
        as(evil, "POST", "/v1/jobs", "{\"type\":\"own\",\"queue\":\"own\",\"delay\":\"1d\"}");
    }

    @AfterEach
    void stop() {
        server.close();
        receiver.close();
    }

    private Reply as(String key, String method, String path, @Nullable String body, String... headers) {
        Reply reply = server.send(key, method, path, body, headers);
        if (key.equals(victim)) {
            assertThat(reply.status()).as(reply.raw().body()).isBetween(200, 299);
        }
        return reply;
    }

    private String lease(String queue) {
        return as(
                        victim,
                        "POST",
                        "/v1/leases",
                        "{\"worker\":\"zz9-worker\",\"wait\":\"20s\",\"lease\":\"1h\"," + "\"queues\":[\"" + queue
                                + "\"]}")
                .json()
                .at("/items/0/token")
                .stringValue();
    }

    /** Each operation by its id, with what the other tenant asks of it. */
    private Map<String, List<Ask>> table() {
        Map<String, List<Ask>> rows = new LinkedHashMap<>();
        String call = "{\"type\":\"own\",\"queue\":\"victim/zz9-queue\",\"resource\":\"victim/zz9-resource\","
                + "\"delay\":\"1d\",\"key\":\"%s\",\"keyRule\":\"REPLACE\",\"idempotencyKey\":\"%s\",\"tags\":[\"zz9-tag\"]}";
        rows.put(
                "enqueueJobs",
                List.of(
                        post("/v1/jobs", call.formatted("zz9-key", "zz9-once"), 202),
                        post("/v1/jobs", call.formatted("victim/zz9-key", "victim/zz9-once"), 202),
                        post("/v1/jobs", "{\"type\":\"own\",\"policy\":\"zz9-policy\"}", 400),
                        post("/v1/jobs", "{\"type\":\"own\",\"policy\":\"victim/zz9-policy\"}", 400),
                        post("/v1/jobs", "{\"type\":\"own\",\"tags\":[\"webhook:" + webhook + "\"]}", 400),
                        post("/v1/jobs", "{\"type\":\"webhook\",\"payload\":{\"job\":" + dead + "}}", 400)));
        rows.put("listJobs", lists("/v1/jobs"));
        rows.put("listDeadLetters", lists("/v1/dead-letters"));
        rows.put(
                "groupDeadLetters",
                List.of(get("/v1/dead-letters/groups", 200), get("/v1/dead-letters/groups?type=zz9-type", 200)));
        List<String> jobs = List.of(waiting, running, dead, delivery);
        rows.put("getJob", each(jobs, id -> get("/v1/jobs/" + id, 404)));
        rows.put("explainJob", each(jobs, id -> get("/v1/jobs/" + id + "/explain", 404)));
        rows.put("awaitJob", each(jobs, id -> get("/v1/jobs/" + id + "/result", 404)));
        rows.put("retryJob", each(jobs, id -> post("/v1/jobs/" + id + "/retry", "{\"force\":true}", 404)));
        rows.put("changeJob", each(jobs, id -> post("/v1/jobs/" + id + "/change", "{\"priority\":9}", 404)));
        rows.put("cancelJob", each(jobs, id -> post("/v1/jobs/" + id + "/cancel", "{}", 404)));
        rows.put("listSteps", each(jobs, id -> get("/v1/jobs/" + id + "/steps", 404)));
        rows.put("jobLog", each(jobs, id -> get("/v1/jobs/" + id + "/log", 404)));
        rows.put("tellJob", each(jobs, id -> post("/v1/jobs/" + id + "/events", "{\"name\":\"a\",\"value\":1}", 404)));
        rows.put(
                "resolveStep",
                each(
                        jobs,
                        id -> post(
                                "/v1/jobs/" + id + "/steps/resolve", "{\"step\":\"a\",\"outcome\":\"again\"}", 404)));
        rows.put("forgetSteps", each(jobs, id -> post("/v1/jobs/" + id + "/steps/forget", "{}", 404)));
        rows.put("replayDeadLetter", each(jobs, id -> post("/v1/dead-letters/" + id + "/replay", "{}", 404)));
        rows.put("discardDeadLetter", each(jobs, id -> post("/v1/dead-letters/" + id + "/discard", "{}", 404)));
        rows.put(
                "bulkDeadLetters",
                Stream.of("replay", "discard")
                        .flatMap(action -> Stream.of("{}", "{\"type\":\"zz9-type\"}", "{\"queue\":\"victim/zz9-dead\"}")
                                .map(filter -> post(
                                        "/v1/dead-letters/bulk",
                                        "{\"action\":\"" + action + "\",\"filter\":" + filter + "}",
                                        200)))
                        .toList());
        rows.put(
                "startReplay",
                List.of(
                        post("/v1/replays", "{\"filter\":{\"type\":\"zz9-type\"}}", 202),
                        post("/v1/replays", "{\"filter\":{\"queue\":\"victim/zz9-dead\"}}", 202)));
        rows.put("listReplays", List.of(get("/v1/replays", 200), get("/v1/replays?cursor=" + replay, 200)));
        rows.put("getReplay", List.of(get("/v1/replays/" + replay, 404), get("/v1/replays/victim%2F" + replay, 404)));
        rows.put("cancelReplay", List.of(post("/v1/replays/" + replay + "/cancel", "{}", 404)));
        rows.put("listQueues", List.of(get("/v1/queues", 200)));
        rows.put("getQueue", named("GET", "/v1/queues/%s", "zz9-queue", null, 404));
        rows.put("getQueueLimits", named("GET", "/v1/queues/%s/limits", "zz9-queue", null, 200));
        rows.put("getQueueGroups", named("GET", "/v1/queues/%s/groups", "zz9-queue", null, 404));
        rows.put("changeQueue", named("PUT", "/v1/queues/%s", "zz9-queue", "{\"maxRunning\":1}", 200));
        rows.put("pauseQueue", named("POST", "/v1/queues/%s/pause", "zz9-running", "{}", 200));
        rows.put("resumeQueue", named("POST", "/v1/queues/%s/resume", "zz9-queue", "{}", 200));
        rows.put("listResources", List.of(get("/v1/resources", 200)));
        rows.put("getResource", named("GET", "/v1/resources/%s", "zz9-resource", null, 404));
        for (String action : List.of("force-open", "force-close", "automatic")) {
            String id = Map.of(
                            "force-open", "forceOpenBreaker",
                            "force-close", "forceCloseBreaker",
                            "automatic", "automaticBreaker")
                    .get(action);
            rows.put(id, named("POST", "/v1/resources/%s/" + action, "zz9-resource", "{}", 200, 404));
        }
        String member = "{\"type\":\"own\",\"delay\":\"1d\"}";
        rows.put("listBatches", List.of(get("/v1/batches", 200), get("/v1/batches?prefix=victim/zz9", 200)));
        rows.put("getBatch", named("GET", "/v1/batches/%s", "zz9-batch", null, 404));
        rows.put("addToBatch", named("POST", "/v1/batches/%s/jobs", "zz9-batch", member, 404));
        rows.put("closeBatch", named("POST", "/v1/batches/%s/close", "zz9-batch", "{}", 404));
        rows.put("finishBatch", named("POST", "/v1/batches/%s/finish", "zz9-batch", "{}", 404));
        rows.put("createBatch", named("PUT", "/v1/batches/%s", "zz9-batch", "{}", 200));
        String schedule = "{\"every\":\"1000d\",\"job\":{\"type\":\"own\",\"queue\":\"victim/zz9-queue\"}}";
        rows.put("listSchedules", List.of(get("/v1/schedules", 200)));
        rows.put("getSchedule", named("GET", "/v1/schedules/%s", "zz9-schedule", null, 404));
        rows.put("nextRuns", named("GET", "/v1/schedules/%s/next", "zz9-schedule", null, 404));
        rows.put("deleteSchedule", named("DELETE", "/v1/schedules/%s", "zz9-schedule", null, 404));
        rows.put("pauseSchedule", named("POST", "/v1/schedules/%s/pause", "zz9-schedule", "{}", 404));
        rows.put("resumeSchedule", named("POST", "/v1/schedules/%s/resume", "zz9-schedule", "{}", 404));
        rows.put("triggerSchedule", named("POST", "/v1/schedules/%s/trigger", "zz9-schedule", "{}", 404));
        rows.put(
                "putSchedule",
                List.of(
                        put("/v1/schedules/zz9-schedule", schedule, 200),
                        put("/v1/schedules/own", schedule.replace("own\"", "own\",\"policy\":\"zz9-policy\""), 400)));
        rows.put("listPolicies", List.of(get("/v1/policies", 200), get("/v1/policies?cursor=zz", 200)));
        rows.put("getPolicy", named("GET", "/v1/policies/%s", "zz9-policy", null, 404));
        rows.put("deletePolicy", named("DELETE", "/v1/policies/%s", "zz9-policy", null, 404));
        rows.put("previewPolicy", List.of(post("/v1/policies/preview", "\"victim/zz9-policy\"", 400)));
        rows.put("lintPolicy", List.of(post("/v1/policies/lint", "\"victim/zz9-policy\"", 400)));
        // Before it has policies of its own with these names.
        rows.put(
                "simulate",
                List.of(
                        post("/v1/simulations", "{\"policies\":[\"zz9-policy\"]}", 400),
                        post("/v1/simulations", "{\"policies\":[\"victim/zz9-policy\"]}", 400)));
        rows.put("putPolicy", named("PUT", "/v1/policies/%s", "zz9-policy", "{\"maxAttempts\":2}", 200));
        rows.put("listWorkers", List.of(get("/v1/workers", 200)));
        rows.put("getStats", List.of(get("/v1/stats", 200)));
        rows.put(
                "listAudit",
                Stream.concat(
                                Stream.of(get("/v1/audit", 200), get("/v1/audit?limit=1000", 200)),
                                jobs.stream().map(id -> get("/v1/audit?job=" + id, 404)))
                        .toList());
        rows.put("exportAudit", List.of(get("/v1/audit/export", 200)));
        rows.put("getQuota", List.of(get("/v1/quota", 200)));
        rows.put("getSettings", List.of(get("/v1/settings", 403)));
        rows.put("lintSettings", List.of(get("/v1/settings/warnings", 403)));
        rows.put("putSettings", List.of(put("/v1/settings", "{}", 403)));
        rows.put("putDefaultSettings", List.of(put("/v1/settings/defaults", "{\"retries\":false}", 403)));
        for (String kind : List.of("Type", "Queue", "Resource")) {
            String path = "/v1/settings/" + kind.toLowerCase(Locale.ROOT) + "s/%s";
            rows.put("put" + kind + "Settings", named("PUT", path, "zz9-queue", "{}", 403));
            rows.put("remove" + kind + "Settings", named("DELETE", path, "zz9-queue", null, 403));
        }
        rows.put("getTenantQuota", List.of(get("/v1/quotas/victim", 403)));
        rows.put("putTenantQuota", List.of(put("/v1/quotas/victim", "{\"jobs\":0}", 403)));
        rows.put("listKeys", List.of(get("/v1/keys", 403)));
        rows.put("createKey", List.of(post("/v1/keys", "{\"name\":\"x\",\"scopes\":[\"read\"]}", 403)));
        rows.put("getKey", List.of(get("/v1/keys/" + victimsKeyId, 403)));
        rows.put("rotateKey", List.of(post("/v1/keys/" + victimsKeyId + "/rotate", "{}", 403)));
        rows.put("revokeKey", List.of(delete("/v1/keys/" + victimsKeyId, 403)));
        rows.put(
                "leaseJobs",
                List.of(
                        post("/v1/leases", "{\"max\":100,\"worker\":\"zz9-worker\"}", 200),
                        post("/v1/leases", "{\"max\":100,\"queues\":[\"zz9-running\",\"victim/zz9-running\"]}", 200),
                        post("/v1/leases", "{\"max\":100,\"types\":[\"zz9-type\"]}", 200),
                        post("/v1/leases", "{\"max\":100,\"types\":[\"webhook\",\"http\"]}", 400)));
        for (String action : List.of("complete", "release")) {
            rows.put(action + "Job", List.of(post("/v1/leases/" + token + "/" + action, null, 409)));
        }
        rows.put("cancelRun", List.of(post("/v1/leases/" + token + "/cancel", null, 409)));
        rows.put("keepLease", List.of(post("/v1/leases/" + token + "/heartbeat", "{\"lease\":\"2h\"}", 409)));
        rows.put(
                "reportLeases",
                List.of(
                        post(
                                "/v1/leases/report",
                                "{\"reports\":[{\"token\":\"" + token + "\",\"outcome\":\"complete\"}]}",
                                200),
                        post(
                                "/v1/leases/report",
                                "{\"reports\":[{\"token\":\"" + token
                                        + "\",\"outcome\":\"fail\",\"failure\":{\"type\":\"x\"}}]}",
                                200)));
        rows.put("failJob", List.of(post("/v1/leases/" + token + "/fail", "{\"type\":\"x\"}", 409)));
        rows.put("snoozeJob", List.of(post("/v1/leases/" + token + "/snooze", "{\"delay\":\"1h\"}", 409)));
        rows.put("leaseSteps", List.of(get("/v1/leases/" + token + "/steps", 409)));
        rows.put("storeStep", List.of(post("/v1/leases/" + token + "/step", "{\"name\":\"a\"}", 409)));
        rows.put(
                "joinJobs",
                List.of(post("/v1/leases/" + token + "/join", "{\"name\":\"a\",\"jobs\":[{\"type\":\"b\"}]}", 409)));
        rows.put(
                "addToOwnBatch", List.of(post("/v1/leases/" + token + "/batch", "{\"jobs\":[{\"type\":\"b\"}]}", 409)));
        for (String action : List.of("sleep", "await")) {
            rows.put(
                    action.equals("sleep") ? "sleepRun" : "awaitEvent",
                    List.of(post("/v1/leases/" + token + "/" + action, "{\"name\":\"a\",\"duration\":\"1h\"}", 409)));
        }
        String hook = "/v1/webhooks/" + webhook;
        String form = "{\"url\":\"" + receiver.url("/evil") + "\"}";
        rows.put("listWebhooks", List.of(get("/v1/webhooks", 200)));
        rows.put(
                "createWebhook",
                List.of(post("/v1/webhooks", form.replace("}", ",\"queues\":[\"victim/zz9\"]}"), 201)));
        rows.put("getWebhook", List.of(get(hook, 404)));
        rows.put("changeWebhook", List.of(put(hook, form, 404)));
        rows.put("deleteWebhook", List.of(delete(hook, 404)));
        rows.put("rotateWebhookSecret", List.of(post(hook + "/rotate-secret", "{}", 404)));
        rows.put("pingWebhook", List.of(post(hook + "/ping", null, 404)));
        rows.put("listWebhookDeliveries", List.of(get(hook + "/deliveries", 404)));
        rows.put(
                "redeliverWebhook",
                List.of(post(hook + "/deliveries/" + delivery + "/redeliver", null, 404), crossedRedelivery()));
        rows.put("metrics", List.of(get("/metrics", 403)));
        rows.put("health", List.of(get("/healthz", 200)));
        rows.put("ready", List.of(get("/readyz", 200)));
        rows.put("openApi", List.of(get("/openapi.json", 200)));
        rows.put("page", List.of(get("/", 200)));
        rows.put("pageFile", List.of(get("/ui/zz9.js", 404)));
        rows.put("apiPage", List.of(get("/api", 200)));
        rows.put("beginSession", List.of(post("/v1/session", null, 201)));
        rows.put("getSession", List.of(get("/v1/session", 200)));
        rows.put("endSession", List.of(delete("/v1/session", 204)));
        rows.put(
                "startBulk",
                Stream.of(
                                "\"discard\"",
                                "\"replay\"",
                                "\"cancel\"",
                                "\"retry\"",
                                "\"change\",\"change\":{\"priority\":9}")
                        .map(action -> post(
                                "/v1/bulks",
                                "{\"action\":" + action + ",\"q\":\"state:failed,pending type:zz9-type\"}",
                                202,
                                409))
                        .toList());
        rows.put("listBulks", List.of(get("/v1/bulks", 200)));
        rows.put("getBulk", List.of(get("/v1/bulks/" + bulk, 404), get("/v1/bulks/victim%2F" + bulk, 404)));
        rows.put("cancelBulk", List.of(post("/v1/bulks/" + bulk + "/cancel", "{}", 404)));
        rows.put("getPulse", List.of(get("/v1/pulse", 200)));
        rows.put(
                "getSeries",
                Stream.of("type", "queue", "resource", "error")
                        .flatMap(of -> Stream.of("", "&each=true", "&step=1h", "&step=1h&each=true")
                                .map(more -> get("/v1/series?of=" + of + more, 200)))
                        .toList());
        rows.put("listErrors", List.of(get("/v1/errors", 200)));
        String note = "/v1/errors/%s/note";
        rows.put("compareErrorPayloads", named("GET", "/v1/errors/%s/payloads", "zz9-print", null, 200, 400));
        rows.put("getErrorNote", named("GET", note, "zz9-print", null, 200, 400));
        rows.put("noteError", named("PUT", note, "zz9-print", "{\"text\":\"mine\"}", 200, 400));
        rows.put("forgetErrorNote", named("DELETE", note, "zz9-print", null, 204, 400));
        rows.put("getParkedAges", named("GET", "/v1/resources/%s/parked", "zz9-resource", null, 200, 400, 404));
        rows.put("explainQueue", named("GET", "/v1/queues/%s/explain", "zz9-queue", null, 200, 400, 404));
        rows.put("explainType", named("GET", "/v1/types/%s/explain", "zz9-type", null, 200, 400, 404));
        rows.put("getResourceHistory", named("GET", "/v1/resources/%s/history", "zz9-resource", null, 200, 400, 404));
        rows.put("planJob", each(jobs, id -> get("/v1/jobs/" + id + "/plan", 404)));
        // A stream does not end: see below.
        rows.put("streamEvents", List.of());
        return rows;
    }

    /** The other tenant's delivery through a subscription of one's own. */
    private Ask crossedRedelivery() {
        String own = as(evil, "POST", "/v1/webhooks", "{\"url\":\"" + receiver.url("/evil") + "\"}")
                .text("id");
        return post("/v1/webhooks/" + own + "/deliveries/" + delivery + "/redeliver", null, 404);
    }

    private List<Ask> lists(String path) {
        return Stream.of(
                        "",
                        "?limit=1000",
                        "?cursor=" + cursor,
                        "?tag=zz9-tag",
                        "?type=zz9-type",
                        "?queue=zz9-queue",
                        "?queue=victim/zz9-queue",
                        "?resource=victim/zz9-resource",
                        "?schedule=victim/zz9-schedule",
                        "?q=" + waiting,
                        "?q=id:" + dead,
                        "?q=zz9-key",
                        "?q=error:zz9-message",
                        "?q=queue:zz9-queue",
                        "?q=queue:victim/zz9-queue,own",
                        "?q=-type:own",
                        "?q=reason:delayed",
                        "?tag=webhook:" + webhook)
                .map(query -> get(path + query, 200))
                .toList();
    }

    private static List<Ask> each(List<String> ids, java.util.function.Function<String, Ask> ask) {
        return ids.stream().map(ask).toList();
    }

    /** By the name alone, and by the name as it is stored. */
    private static List<Ask> named(
            String method, String path, String name, @Nullable String body, Integer... statuses) {
        return Stream.of(name, "victim%2F" + name)
                .map(each -> new Ask(method, path.formatted(each), body, Set.of(statuses)))
                .toList();
    }

    @Test
    void a_tenant_does_not_see_its_prefix() {
        List<String> seen = table().values().stream()
                .flatMap(List::stream)
                .filter(ask -> ask.method().equals("GET") && !ask.path().contains("victim"))
                .filter(ask -> server.send(victim, "GET", ask.path(), null)
                        .raw()
                        .body()
                        .contains("victim/"))
                .map(Ask::path)
                .toList();
        assertThat(seen).isEmpty();
    }

    @Test
    void whatever_one_tenant_asks_it_sees_and_changes_nothing_of_the_others() {
        Map<String, List<Ask>> table = table();
        assertThat(table.keySet())
                .as("every operation has a row here")
                .containsExactlyInAnyOrderElementsOf(operations());
        Map<String, JsonNode> before = world();
        StringBuilder written = new StringBuilder();
        // What it only asks for comes first: later on there are jobs of its own with the victim's names.
        Stream.concat(rows(table, true), rows(table, false)).forEach(row -> {
            String operation = row.getKey();
            Ask ask = row.getValue();
            written.append(ask.body);
            Reply reply = as(evil, ask.method, ask.path, ask.body);
            assertThat(reply.status())
                    .as("%s %s: %s", operation, ask.path, reply.raw().body())
                    .isIn(ask.statuses);
            assertThat(leaks(reply.raw().body(), ask.path + written))
                    .as("%s %s", operation, ask.path)
                    .isEmpty();
            assertThat(world()).as("%s %s", operation, ask.path).isEqualTo(before);
        });
        assertThat(receiver.seen)
                .filteredOn(seen -> seen.path().equals("/evil"))
                .noneMatch(seen -> seen.body().contains(MARK));
    }

    private static Stream<Map.Entry<String, Ask>> rows(Map<String, List<Ask>> table, boolean looks) {
        return table.entrySet().stream()
                .flatMap(row -> row.getValue().stream().map(ask -> Map.entry(row.getKey(), ask)))
                .filter(row -> row.getValue().method.equals("GET") == looks);
    }

    /** Words of the victim's in an answer that were not said before. */
    private static Set<String> leaks(String body, String said) {
        Set<String> leaks = new TreeSet<>();
        java.util.regex.Matcher words = java.util.regex.Pattern.compile("[A-Za-z0-9/_-]*" + MARK + "[A-Za-z0-9/_-]*")
                .matcher(body);
        while (words.find()) {
            String word = words.group().replaceFirst("^(evil/)?(victim/)?", "");
            if (!said.contains(word)) {
                leaks.add(words.group());
            }
        }
        return leaks;
    }

    private Set<String> operations() {
        Set<String> ids = new TreeSet<>();
        server.get("/openapi.json")
                .json()
                .get("paths")
                .forEach(path -> path.forEach(
                        operation -> ids.add(operation.get("operationId").stringValue())));
        return ids;
    }

    /** All that the victim can see of its own, but its workers: after a minute without a sign they are forgotten. */
    private Map<String, JsonNode> world() {
        List<String> paths = new ArrayList<>(List.of(
                "/v1/jobs?limit=1000",
                "/v1/queues",
                "/v1/resources",
                "/v1/schedules",
                "/v1/batches",
                "/v1/policies",
                "/v1/webhooks",
                "/v1/webhooks/" + webhook + "/deliveries",
                "/v1/replays"));
        Stream.of(waiting, running, dead).forEach(id -> paths.add("/v1/jobs/" + id));
        Map<String, JsonNode> world = new LinkedHashMap<>();
        paths.forEach(
                path -> world.put(path, still(as(victim, "GET", path, null).json())));
        return world;
    }

    private static JsonNode still(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.remove(VOLATILE);
        }
        node.forEach(TwoTenantsTest::still);
        return node;
    }

    /** A tenant of such a name would see the entries of others. */
    @Test
    void the_first_words_of_subjects_in_the_audit_log_are_no_names_of_tenants() {
        String admin = server.admin;
        as(admin, "PUT", "/v1/settings/types/bill", "{\"concurrency\":3}");
        as(admin, "PUT", "/v1/quotas/victim", "{\"jobs\":100}");
        as(admin, "PUT", "/v1/policies/mine", "{\"maxAttempts\":7}");
        as(admin, "PUT", "/v1/errors/print/note", "{\"text\":\"known\"}");
        as(admin, "POST", "/v1/bulks", "{\"action\":\"cancel\",\"q\":\"state:pending queue:nothing\"}");
        as(admin, "POST", "/v1/replays", "{\"filter\":{\"queue\":\"nothing\"}}");
        as(admin, "POST", "/v1/webhooks", "{\"url\":\"" + receiver.url("/mine") + "\"}");
        as(admin, "POST", "/v1/queues/mine/pause", "{}");
        as(admin, "POST", "/v1/resources/mine/force-open", "{}");
        as(admin, "PUT", "/v1/schedules/mine", "{\"every\":\"1000d\",\"job\":{\"type\":\"own\"}}");
        as(admin, "PUT", "/v1/batches/mine", "{}");
        as(admin, "POST", "/v1/batches/mine/close", "{\"why\":\"it is late\"}");
        Set<String> words = new TreeSet<>();
        as(admin, "GET", "/v1/audit?limit=1000", null).json().get("items").forEach(entry -> {
            String subject = entry.get("subject").stringValue("");
            if (subject.contains("/")) {
                words.add(subject.substring(0, subject.indexOf('/')));
            }
        });
        words.removeAll(Set.of("victim", "evil"));
        assertThat(words).contains("settings", "batch", "quota", "policy");
        assertThat(Tenancy.RESERVED).containsAll(words);
        for (String word : words) {
            assertThat(as(
                                    admin,
                                    "POST",
                                    "/v1/keys",
                                    "{\"name\":\"x\",\"scopes\":[\"read\"],\"tenant\":\"" + word + "\"}")
                            .status())
                    .as(word)
                    .isEqualTo(400);
        }
    }

    @Test
    void a_stream_tells_a_tenant_of_its_own_jobs_only() throws Exception {
        for (String query : List.of("", "?type=zz9-type", "?job=" + waiting, "?queue=victim/zz9-queue")) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(server.server.url() + "/v1/events" + query))
                    .header("Authorization", "Bearer " + evil)
                    .header("Last-Event-ID", "none-0")
                    .build();
            HttpResponse<Stream<String>> answer = server.client().send(request, HttpResponse.BodyHandlers.ofLines());
            assertThat(answer.statusCode()).isEqualTo(200);
            try (Stream<String> lines = answer.body()) {
                as(victim, "POST", "/v1/jobs", "{\"type\":\"zz9-type\",\"queue\":\"zz9-queue\"}");
                String own = as(evil, "POST", "/v1/jobs", "{\"type\":\"zz9-type\",\"queue\":\"zz9-own\"}")
                        .text("id");
                as(evil, "POST", "/v1/jobs/" + own + "/cancel", "{}");
                if (!query.isEmpty() && !query.contains("type")) {
                    continue;
                }
                for (Iterator<String> each = lines.iterator(); each.hasNext(); ) {
                    String line = each.next();
                    if (line.startsWith("data: ") && line.length() > "data: {}".length()) {
                        JsonNode event = Json.parse(line.substring("data: ".length()));
                        assertThat(event.path("queue").stringValue("")).doesNotContain("zz9-queue");
                        if (event.path("id").stringValue("").equals(own)) {
                            break;
                        }
                    }
                }
            }
        }
    }
}
