// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class RouterTest {

    private final Router router = new Router(List.of(
            operation(Operation.get("/", "root")),
            operation(Operation.get("/v1/jobs", "list")),
            operation(Operation.post("/v1/jobs", "enqueue")),
            operation(Operation.get("/v1/jobs/{id}", "one")),
            operation(Operation.get("/v1/jobs/bulk", "bulk")),
            operation(Operation.post("/v1/jobs/{job}/cancel", "cancel")),
            operation(Operation.get("/v1/jobs/bulk/log", "bulkLog"))));

    private static Operation operation(Operation.Builder builder) {
        return builder.forAnyone().does(request -> Response.noContent());
    }

    private String id(String method, String path) {
        return router.find(method, path).operation().id();
    }

    @Test
    void an_operation_is_found_by_its_method_and_path() {
        assertThat(id("GET", "/")).isEqualTo("root");
        assertThat(id("GET", "/v1/jobs")).isEqualTo("list");
        assertThat(id("HEAD", "/v1/jobs")).isEqualTo("list");
        assertThat(id("POST", "/v1/jobs")).isEqualTo("enqueue");
    }

    @Test
    void a_word_goes_before_a_parameter() {
        assertThat(id("GET", "/v1/jobs/bulk")).isEqualTo("bulk");
        assertThat(id("GET", "/v1/jobs/bulk2")).isEqualTo("one");
        // Below the word "bulk" there is no "cancel", so it is the id of a job.
        assertThat(id("POST", "/v1/jobs/bulk/cancel")).isEqualTo("cancel");
    }

    @Test
    void parameters_are_those_of_the_operation_and_not_decoded() {
        assertThat(router.find("GET", "/v1/jobs/a%2Fb").rawPath()).isEqualTo(Map.of("id", "a%2Fb"));
        assertThat(router.find("POST", "/v1/jobs/17/cancel").rawPath()).isEqualTo(Map.of("job", "17"));
        assertThat(router.find("GET", "/v1/jobs").rawPath()).isEmpty();
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(
            strings = {
                "",
                "*",
                "v1/jobs",
                "//",
                "/v1",
                "/v1/",
                "/v1/jobs/",
                "/v1//jobs",
                "/v1/jobs//cancel",
                "/v1/jobs/1/2/3"
            })
    void other_paths_are_not_found(@Nullable String path) {
        assertThatThrownBy(() -> router.find("GET", path)).hasMessageContaining("nothing at this path");
    }

    @Test
    void another_method_is_refused_with_those_that_are_allowed() {
        assertThatThrownBy(() -> router.find("DELETE", "/v1/jobs")).hasMessageContaining("Allowed here: GET, POST");
    }

    @Test
    void an_unknown_parameter_or_member_is_refused_with_those_that_are_known() {
        Operation operation = Operation.post("/v1/things", "putThing")
                .query("dryRun", Schema.bool(), "whether to change nothing")
                .body(Schema.object().must("name", Schema.name()).may("size", Schema.integer(0, 9)))
                .forAnyone()
                .does(request -> Response.noContent());
        Router.Match match = new Router(List.of(operation)).find("POST", "/v1/things");
        Caller caller = new Caller("ada", Set.of(), null, Caller.Bounds.NONE, Caller.Login.NONE);
        byte[] body = "{\"name\":\"a\",\"colour\":1}".getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> Router.check(match, Map.of("dry", "true"), name -> null, caller, body))
                .isInstanceOfSatisfying(
                        Problem.class,
                        problem -> assertThat(problem.errors())
                                .containsExactly(
                                        new Problem.FieldError("dry", "is not known here; known: dryRun"),
                                        new Problem.FieldError("/colour", "is not known here; known: name, size")));
    }

    @Test
    void an_operation_that_is_there_twice_is_refused() {
        List<Operation> twice =
                List.of(operation(Operation.get("/v1/{a}", "first")), operation(Operation.get("/v1/{b}", "second")));
        assertThatThrownBy(() -> new Router(twice)).hasMessageContaining("GET /v1/{b} is there twice");
    }
}
