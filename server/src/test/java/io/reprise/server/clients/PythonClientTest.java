// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class PythonClientTest extends ClientContract {

    private static final String HOME = "../clients/python/";

    @Override
    List<String> version() {
        return List.of("python3", "-c", "import sys; sys.exit(sys.version_info < (3, 9))");
    }

    @Override
    List<String> partTests() {
        return List.of("python3", "-m", "unittest", "discover", HOME + "tests");
    }

    @Override
    List<String> probe() {
        return List.of("python3", HOME + "tests/probe.py");
    }

    @Test
    void steps_sleeps_and_events_of_a_handler_are_kept_by_the_server() throws Exception {
        ServeProcess server = server();
        String id = server.enqueue("{\"type\":\"task\",\"payload\":{\"steps\":true}}");
        probe("worker", Map.of(), "work");
        ServeProcess.await("the wait for an event", () -> {
            JsonNode job = server.job(id);
            return job.get("waitReason").stringValue("").equals("EVENT");
        });
        server.call("POST", "/v1/jobs/" + id + "/events", "{\"name\":\"approval\",\"value\":{\"by\":\"ada\"}}");
        ServeProcess.await("the end", () -> server.state(id).equals("SUCCEEDED"));
        JsonNode steps = server.job(id).get("result").get("steps");
        assertThat(steps.get(0).stringValue()).isEqualTo("FIRST");
        assertThat(steps.get(1).get("by").stringValue()).isEqualTo("ada");
        assertThat(steps.get(2).stringValue()).isEqualTo("LAST");
        assertThat(log("worker").lines().filter(line -> line.equals("did " + id + " first")))
                .hasSize(1);
        assertThat(log("worker")).doesNotContain("swallowed");
        assertThat(server.job(id).get("attempts").intValue()).isEqualTo(1);
    }
}
