// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.http.Json;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.testkit.TestRun;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Requests made of the published document alone, by keys of two tenants and of none, with values that earlier answers held, whosever they
 * were. No answer is outside the document, none is a failure of the server, and none holds a word of the other tenant's.
 */
class RandomRequestsTest {

    private static final int REQUESTS = Integer.getInteger("reprise.test.requests", TestRun.size(500, 2_000));
    private static final long SEED = Long.getLong("reprise.test.seed", 1);
    private static final Pattern MARKED = Pattern.compile("zq[ab]x[0-9]+");
    private static final int POOL = 2_000;

    /** The keys that the test itself uses must go on working. */
    private static final Set<String> LEFT_OUT = Set.of("revokeKey", "rotateKey", "putTenantQuota");

    private record Operation(String id, String method, String path, JsonNode node) {}

    private record Client(String mark, String key) {}

    private final Random random = new Random(SEED);
    private final TestServer server;
    private final List<Operation> operations = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final List<String> pool = new ArrayList<>(List.of("default", "1", "x"));
    private final Map<String, Set<String>> said = new HashMap<>();
    private final List<String> wrong = new ArrayList<>();
    private final Map<Integer, Integer> statuses = new HashMap<>();
    private JsonNode document = Json.object();
    private Client client = new Client("", "");
    private int words;

    RandomRequestsTest(@TempDir Path directory) {
        server = new TestServer(TestServer.namedStore(directory), HttpSettings.Limits.DEFAULT, 1_000_000);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private void prepare() {
        document = server.send(null, "GET", "/openapi.json", null).json();
        document.get("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .properties()
                        .forEach(method -> operations.add(new Operation(
                                method.getValue().get("operationId").stringValue(),
                                method.getKey().toUpperCase(Locale.ROOT),
                                path.getKey(),
                                method.getValue()))));
        operations.removeIf(operation -> LEFT_OUT.contains(operation.id));
        Scope[] own = {Scope.READ, Scope.ENQUEUE, Scope.WORK, Scope.OPERATE};
        for (String tenant : List.of("a", "b")) {
            for (int i = 0; i < 3; i++) {
                clients.add(new Client(tenant, server.key("all", "tenant-" + tenant, own)));
                clients.add(new Client(tenant, server.key("one", "tenant-" + tenant, own[random.nextInt(own.length)])));
            }
        }
        clients.add(new Client("", server.key("operator", null, own)));
        clients.add(new Client("", server.admin));
        said.put("a", new HashSet<>());
        said.put("b", new HashSet<>());
    }

    @Test
    void no_answer_is_outside_the_document_and_none_holds_anothers_words() {
        prepare();
        for (int i = 0; i < REQUESTS && wrong.isEmpty(); i++) {
            client = clients.get(random.nextInt(clients.size()));
            request(operations.get(random.nextInt(operations.size())));
        }
        System.out.printf(
                "Random requests: %d of %d operations, statuses %s, %d words%n",
                REQUESTS, operations.size(), new TreeMap<>(statuses), words);
        assertThat(wrong).isEmpty();
        assertThat(statuses.keySet()).as("it is not all refused: %s", statuses).contains(200, 202, 400, 403, 404);
        assertThat(statuses.get(200)).isGreaterThan(REQUESTS / 10);
        assertThat(server.get("/readyz").status()).isEqualTo(200);
    }

    private void request(Operation operation) {
        String path = operation.path;
        StringBuilder query = new StringBuilder();
        List<String> headers = new ArrayList<>();
        for (JsonNode parameter : operation.node.path("parameters")) {
            String name = parameter.get("name").stringValue();
            String value = value(parameter.get("schema"), name).asString("");
            String in = parameter.get("in").stringValue();
            if (in.equals("path")) {
                path = path.replace("{" + name + "}", encode(value));
            } else if (random.nextInt(4) == 0) {
                if (in.equals("query")) {
                    query.append(query.isEmpty() ? '?' : '&')
                            .append(name)
                            .append('=')
                            .append(encode(value));
                } else {
                    headers.add(name);
                    headers.add(value.replaceAll("[^ -~]", "_"));
                }
            }
        }
        JsonNode schema = operation.node.at("/requestBody/content/application~1json/schema");
        String body = schema.isMissingNode() ? null : value(schema, "").toString();
        send(operation, path + query, body, headers);
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** A value that fits, most of the time: one that was seen, or a new one with the mark of its sender. */
    private JsonNode value(JsonNode unresolved, String name) {
        JsonNode schema = resolve(unresolved);
        if (random.nextInt(60) == 0) {
            return Json.tree(List.of("odd", random.nextInt()));
        }
        if (schema.has("enum")) {
            return schema.get("enum").get(random.nextInt(schema.get("enum").size()));
        }
        String type = schema.path("type").isArray()
                ? schema.get("type").get(0).stringValue()
                : schema.path("type").asString("any");
        return switch (type) {
            case "string" -> Json.tree(text(schema, name));
            case "integer", "number" -> Json.tree(schema.path("minimum").asInt(0) + random.nextInt(5));
            case "boolean" -> Json.tree(random.nextBoolean());
            case "array" -> array(schema, name);
            case "object" -> object(schema);
            default -> Json.tree(Map.of("note", fresh()));
        };
    }

    private JsonNode array(JsonNode schema, String name) {
        List<JsonNode> items = new ArrayList<>();
        int size = schema.path("minItems").asInt(0) + random.nextInt(2);
        for (int i = 0; i < size; i++) {
            items.add(value(schema.get("items"), name));
        }
        return Json.tree(items);
    }

    private JsonNode object(JsonNode schema) {
        ObjectNode object = Json.object();
        Set<String> required = new HashSet<>();
        schema.path("required").forEach(each -> required.add(each.stringValue()));
        schema.path("properties").properties().forEach(member -> {
            if (required.contains(member.getKey()) || random.nextInt(4) == 0) {
                object.set(member.getKey(), value(member.getValue(), member.getKey()));
            }
        });
        return object;
    }

    private String text(JsonNode schema, String name) {
        if (schema.path("format").asString("").equals("date-time")) {
            return "2026-01-31T12:00:00Z";
        }
        if (name.equals("url")) {
            return "http://127.0.0.1:1/" + fresh();
        }
        // No request of this test is to wait.
        if (name.equals("wait")) {
            return "0s";
        }
        if (schema.path("description").asString("").startsWith("such as")) {
            return List.of("1s", "5m", "2h", "1d").get(random.nextInt(4));
        }
        return random.nextBoolean() ? pool.get(random.nextInt(pool.size())) : fresh();
    }

    private String fresh() {
        return "zq" + (client.mark.isEmpty() ? "o" : client.mark) + "x" + ++words;
    }

    private JsonNode resolve(JsonNode schema) {
        JsonNode reference = schema.get("$ref");
        if (reference != null) {
            String name = reference.stringValue().substring("#/components/schemas/".length());
            return resolve(document.get("components").get("schemas").get(name));
        }
        JsonNode either = schema.get("oneOf");
        return either == null ? schema : resolve(either.get(random.nextInt(either.size())));
    }

    private void send(Operation operation, String path, @Nullable String body, List<String> headers) {
        String what = operation.id + " " + path + " " + body;
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.server.url() + path))
                .header("Authorization", "Bearer " + client.key)
                .timeout(Duration.ofMinutes(3));
        for (int i = 0; i < headers.size(); i += 2) {
            request.header(headers.get(i), headers.get(i + 1));
        }
        if (body == null) {
            request.method(operation.method, HttpRequest.BodyPublishers.noBody());
        } else {
            request.header("Content-Type", "application/json")
                    .method(operation.method, HttpRequest.BodyPublishers.ofString(body));
        }
        remember(client.mark, what + headers);
        try {
            HttpResponse<InputStream> answer =
                    server.client().send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream in = answer.body()) {
                statuses.merge(answer.statusCode(), 1, Integer::sum);
                if (!answer.headers().firstValue("Content-Type").orElse("").equals("text/event-stream")) {
                    judge(what, answer, new String(in.readAllBytes(), StandardCharsets.UTF_8));
                }
            }
        } catch (IOException e) {
            wrong.add(what + " -> " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void remember(String mark, String text) {
        if (!mark.isEmpty()) {
            Matcher marked = MARKED.matcher(text);
            while (marked.find()) {
                said.get(mark).add(marked.group());
            }
        }
    }

    private void judge(String what, HttpResponse<?> answer, String text) throws IOException, InterruptedException {
        if (answer.statusCode() >= 500) {
            wrong.add(what + " -> " + answer.statusCode() + " " + text);
        }
        try {
            server.check().check(answer, text);
        } catch (AssertionError e) {
            wrong.add(what + " -> " + e.getMessage());
        }
        if (!client.mark.isEmpty()) {
            Matcher marked = MARKED.matcher(text);
            while (marked.find()) {
                if (marked.group().charAt(2) != client.mark.charAt(0)
                        && !said.get(client.mark).contains(marked.group())) {
                    wrong.add(what + " tells " + client.mark + " of " + marked.group() + ": " + text);
                }
            }
        }
        if (answer.statusCode() < 300 && text.startsWith("{") && !what.startsWith("openApi")) {
            // A stream has a value in each line.
            text.lines().forEach(line -> collect(Json.parse(line), 0));
        }
    }

    /** Ids, names, tokens and cursors of any tenant: the other one will try them too. */
    private void collect(JsonNode node, int depth) {
        if (node.isString()
                && node.stringValue().length() <= 100
                && !node.stringValue().isEmpty()) {
            if (pool.size() < POOL) {
                pool.add(node.stringValue());
            } else {
                pool.set(random.nextInt(POOL), node.stringValue());
            }
        } else if (depth < 4) {
            node.forEach(each -> collect(each, depth + 1));
        }
    }
}
