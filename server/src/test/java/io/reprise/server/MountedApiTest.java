// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.JobId;
import io.reprise.server.http.Caller;
import io.reprise.server.http.LocalCalls;
import io.reprise.server.http.Scope;
import io.reprise.testing.InMemoryJobStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The dashboard and its API as the web server of an application calls them. */
class MountedApiTest {

    private static final Caller READER = new Caller("user ada (application)", Set.of(Scope.READ), null);
    private static final Caller OPERATOR =
            new Caller("user olga (application)", Set.of(Scope.READ, Scope.OPERATE), null);
    private static final Map<String, String> OWN_PAGE = Map.of("X-Reprise", "1", "Content-Type", "application/json");
    private static final JobType<String> WORK = JobType.of("work", String.class);

    private final InMemoryJobStore store = new InMemoryJobStore();
    private final Reprise reprise =
            Reprise.builder().store(store).codec(new JacksonCodec()).start();
    private final MountedApi api = new MountedApi("test", reprise, store, new JacksonCodec(), "/admin/jobs");

    @AfterEach
    void close() {
        api.close();
        reprise.close();
    }

    /** An answer as a client sees it. */
    private static final class Received implements LocalCalls.Reply {
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
        private int status;
        private Map<String, String> headers = Map.of();

        @Override
        public void begin(int given, Map<String, String> all) {
            status = given;
            headers = all;
        }

        @Override
        public OutputStream body() {
            return body;
        }

        String text() {
            return body.toString(StandardCharsets.UTF_8);
        }
    }

    private Received call(Caller caller, String method, String target, String body, Map<String, String> headers)
            throws IOException {
        int mark = target.indexOf('?');
        Received received = new Received();
        api.answer(
                new LocalCalls.Call(
                        caller,
                        method,
                        mark < 0 ? target : target.substring(0, mark),
                        mark < 0 ? null : target.substring(mark + 1),
                        headers::get,
                        new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8))),
                received);
        return received;
    }

    private Received get(String target) throws IOException {
        return call(READER, "GET", target, "", Map.of());
    }

    @Test
    void the_page_knows_its_path_and_the_screens_have_their_data() throws IOException {
        reprise.enqueue(WORK.job("x").after(Duration.ofDays(1)));
        assertThat(get("/").text()).contains("data-base=\"/admin/jobs\"");
        for (String path : Set.of(
                "/v1/session",
                "/v1/pulse",
                "/v1/series?of=type",
                "/v1/jobs",
                "/v1/queues",
                "/v1/resources",
                "/v1/schedules",
                "/v1/policies",
                "/v1/workers",
                "/v1/audit",
                "/v1/bulks",
                "/v1/replays",
                "/v1/dead-letters/groups",
                "/v1/stats?since=7d")) {
            Received answer = get(path);
            assertThat(answer.status).as(path + answer.text()).isEqualTo(200);
            assertThat(answer.headers).containsEntry("Content-Type", "application/json");
        }
    }

    @Test
    void a_second_look_at_the_pulse_is_not_sent_again() throws IOException {
        Received first = get("/v1/pulse");
        Received second =
                call(READER, "GET", "/v1/pulse", "", Map.of("If-None-Match", first.headers.getOrDefault("ETag", "")));
        assertThat(second.status).isEqualTo(304);
        assertThat(second.body.size()).isZero();
    }

    @Test
    void a_change_needs_its_scope_and_the_page_itself() throws IOException {
        JobId id = reprise.enqueue(WORK.job("x").after(Duration.ofDays(1)));
        String path = "/v1/jobs/" + id + "/cancel";
        assertThat(call(READER, "POST", path, "{}", OWN_PAGE).status).isEqualTo(403);
        assertThat(call(OPERATOR, "POST", path, "{}", Map.of("Content-Type", "application/json")).status)
                .isEqualTo(403);
        assertThat(call(Caller.ANYONE, "GET", "/v1/jobs", "", Map.of()).status).isEqualTo(403);
        assertThat(call(OPERATOR, "POST", path, "{\"why\":\"no longer\"}", OWN_PAGE).status)
                .isEqualTo(200);
        assertThat(reprise.audit(id)).anyMatch(entry -> entry.note().by().equals("user olga (application)"));
    }

    @Test
    void bad_input_is_answered_with_a_problem() throws IOException {
        assertThat(get("/v1/nothing").status).isEqualTo(404);
        assertThat(get("/v1/keys").status).isEqualTo(404);
        assertThat(get("/v1/jobs?limit=1&limit=2").status).isEqualTo(400);
        assertThat(get("/v1/jobs?limit=%zz").status).isEqualTo(400);
        assertThat(get("/v1/jobs?flag").status).isEqualTo(400);
        assertThat(call(OPERATOR, "DELETE", "/v1/queues", "", OWN_PAGE).status).isEqualTo(405);
        assertThat(call(OPERATOR, "POST", "/v1/bulks", "x".repeat(2 << 20), OWN_PAGE).status)
                .isEqualTo(413);
        assertThat(call(OPERATOR, "POST", "/v1/bulks", "{", OWN_PAGE).status).isEqualTo(400);
        assertThat(call(OPERATOR, "POST", "/v1/bulks", "{}", Map.of("X-Reprise", "1")).status)
                .isEqualTo(415);
        assertThat(get("/v1/nothing").headers).containsEntry("Content-Type", "application/problem+json");
    }
}
