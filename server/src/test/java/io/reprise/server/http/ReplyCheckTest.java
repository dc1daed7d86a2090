// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.net.HttpSettings;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplyCheckTest {

    private static final Schema THING = Schema.object()
            .must("id", Schema.id())
            .must("note", Schema.text(0, 10).orNull())
            .must("parts", Schema.array(Schema.object().must("size", Schema.integer(0, 9)), 0, 3))
            .must("counts", Schema.map(Schema.integer(0, 9)));

    private static Map<String, @Nullable Object> thing() {
        Map<String, @Nullable Object> thing = new LinkedHashMap<>();
        thing.put("id", "17");
        thing.put("note", null);
        thing.put("parts", List.of(Map.of("size", 3)));
        thing.put("counts", Map.of("any", 1));
        return thing;
    }

    private static Operation operation(Answer answer) {
        return Operation.get("/thing", "getThing")
                .forAnyone()
                .answers(200, "a thing", THING)
                .answers(204, "nothing")
                .does(request -> answer);
    }

    private static int status(Response answer) {
        return ReplyCheck.checked(operation(answer), answer).status();
    }

    private static void assertRefused(Response answer) {
        assertThat(status(answer)).isEqualTo(500);
        assertThat(UndeclaredAnswers.take()).hasSize(1);
    }

    @Test
    void what_is_declared_passes() {
        assertThat(status(Response.ok(thing()))).isEqualTo(200);
        assertThat(status(Response.noContent())).isEqualTo(204);
        Response problem = Problem.notFound("It").response(Problem.newInstance());
        assertThat(status(problem)).isEqualTo(404);
        assertThat(ReplyCheck.checked((Operation) null, problem).status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"id", "note", "parts", "counts"})
    void a_missing_member_fails(String member) {
        Map<String, @Nullable Object> thing = thing();
        thing.remove(member);
        assertRefused(Response.ok(thing));
    }

    @Test
    void whatever_else_is_undeclared_fails() {
        Map<String, @Nullable Object> more = thing();
        more.put("more", 1);
        assertRefused(Response.ok(more));
        Map<String, @Nullable Object> inner = thing();
        inner.put("parts", List.of(Map.of()));
        assertRefused(Response.ok(inner));
        Map<String, @Nullable Object> wrong = thing();
        wrong.put("counts", Map.of("any", "text"));
        assertRefused(Response.ok(wrong));
        assertRefused(Response.json(201, thing()));
        assertRefused(Response.json(500, thing()));
        assertRefused(Response.text("text/plain", "a thing"));
        assertRefused(Problem.notFound("It").response(null));
    }

    /** The extension sees an answer that no test looks at. */
    @Test
    void a_server_reports_what_it_answers() throws Exception {
        Gate open = (authorization, address, needed) -> new Caller("anyone", Set.of(), null);
        List<Endpoints> parts = List.of(() -> List.of(operation(Response.ok(Map.of("id", "17")))));
        try (HttpServer server =
                HttpServer.start(new HttpSettings("127.0.0.1", 0, HttpSettings.Limits.DEFAULT, null), open, parts)) {
            HttpRequest request =
                    HttpRequest.newBuilder(URI.create(server.url() + "/thing")).build();
            HttpResponse<String> answer =
                    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(500);
            assertThat(UndeclaredAnswers.take()).singleElement().asString().contains("getThing", "/note");
        }
    }
}
