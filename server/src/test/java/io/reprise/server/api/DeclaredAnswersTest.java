// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reprise.server.api.TestServer.Reply;
import io.reprise.server.http.Json;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The document promises every member of every answer, so that an answer without one breaks it. */
class DeclaredAnswersTest {

    /** Members that an answer may leave out, and objects that may hold members of any name, each with the reason. */
    private static final Map<String, String> EXCEPTIONS = Map.ofEntries(
            Map.entry("ListedJob/result", "only if asked for"),
            Map.entry("ListedJob/payload", "only if asked for"),
            Map.entry("Problem/errors", "only if fields are wrong"),
            Map.entry("Filter", "is answered as it was given"),
            Map.entry("RetryPolicy", "has the fields that the policy sets"),
            Map.entry("WebhookRetryPolicy", "has the fields that the policy sets"),
            Map.entry("FleetSettings", "has what is set"),
            Map.entry("openApi", "is the document itself"));

    private final TestServer server = new TestServer();
    private final JsonNode document =
            server.send(null, "GET", "/openapi.json", null).json();
    private final Set<String> seen = new HashSet<>();
    private final Set<String> loose = new TreeSet<>();

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void every_member_of_every_answer_is_promised() {
        document.get("paths")
                .forEach(path -> path.forEach(operation -> {
                    String id = operation.get("operationId").stringValue();
                    operation
                            .get("responses")
                            .forEach(reply -> reply.path("content").forEach(content -> {
                                look(id, content.get("schema"));
                                if (content.has("x-itemSchema")) {
                                    look(id, content.get("x-itemSchema"));
                                }
                            }));
                }));
        assertThat(loose).isEqualTo(new TreeSet<>(EXCEPTIONS.keySet()));
        assertThat(seen).hasSizeGreaterThan(40);
    }

    private void look(String name, JsonNode schema) {
        if (schema.has("$ref")) {
            String component = schema.get("$ref").stringValue().substring("#/components/schemas/".length());
            if (seen.add(component)) {
                look(component, document.at("/components/schemas/" + component));
            }
            return;
        }
        schema.path("oneOf").forEach(each -> look(name, each));
        if (schema.has("items")) {
            look(name, schema.get("items"));
        }
        if (schema.has("properties")) {
            object(name, schema);
        }
    }

    private void object(String name, JsonNode schema) {
        Set<String> required = new HashSet<>();
        schema.path("required").forEach(each -> required.add(each.stringValue()));
        JsonNode others = schema.get("additionalProperties");
        if (others.isObject()) {
            look(name, others);
        } else if (others.booleanValue()
                || (required.isEmpty() && !schema.get("properties").isEmpty())) {
            loose.add(name);
            return;
        }
        schema.get("properties").properties().forEach(member -> {
            if (!required.contains(member.getKey())) {
                loose.add(name + "/" + member.getKey());
            }
            look(name, member.getValue());
        });
    }

    @Test
    void a_job_without_one_of_its_members_breaks_the_document() throws Exception {
        String id = server.deadLetter("resize", "images", "Broken");
        for (String path : List.of("/v1/jobs/" + id, "/v1/jobs?payloads=true", "/v1/dead-letters/groups")) {
            Reply reply = server.get(path);
            ObjectNode whole = (ObjectNode) reply.json();
            ObjectNode job =
                    whole.has("items") ? (ObjectNode) whole.get("items").get(0) : whole;
            List<String> members = new ArrayList<>(job.propertyNames());
            assertThat(members).hasSizeGreaterThan(5);
            for (String member : members) {
                JsonNode value = job.remove(member);
                String left = Json.text(whole);
                boolean exception = whole.has("items") && EXCEPTIONS.containsKey("ListedJob/" + member);
                if (!exception) {
                    assertThatThrownBy(() -> server.check().check(reply.raw(), left))
                            .as("%s without %s", path, member)
                            .isInstanceOf(AssertionError.class)
                            .hasMessageContaining(member);
                }
                job.set(member, value);
            }
            server.check().check(reply.raw(), Json.text(whole));
        }
    }
}
