// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.server.http.Scope;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SessionTest {

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private HttpResponse<String> ask(String method, String path, String... headers) {
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.server.url() + path))
                    .method(method, HttpRequest.BodyPublishers.noBody());
            for (int i = 0; i < headers.length; i += 2) {
                request.header(headers[i], headers[i + 1]);
            }
            return server.client().send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private String cookie(String key) {
        HttpResponse<String> answer = ask("POST", "/v1/session", "Authorization", "Bearer " + key);
        assertThat(answer.statusCode()).isEqualTo(201);
        return answer.headers().firstValue("Set-Cookie").orElseThrow().split(";", 2)[0];
    }

    @Test
    void a_key_becomes_a_cookie_that_scripts_and_other_sites_cannot_use() {
        HttpResponse<String> answer = ask("POST", "/v1/session", "Authorization", "Bearer " + server.admin);
        assertThat(answer.headers().firstValue("Set-Cookie").orElseThrow())
                .contains("; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200")
                .doesNotContain(server.admin, "Secure");
        assertThat(answer.body()).contains("\"operate\"").doesNotContain(server.admin);
    }

    @Test
    void a_session_looks_and_changes_only_from_our_own_page() {
        server.send(server.admin, "POST", "/v1/jobs", "{\"type\":\"a\",\"queue\":\"q\"}");
        String cookie = cookie(server.admin);
        assertThat(ask("GET", "/v1/stats", "Cookie", cookie).statusCode()).isEqualTo(200);
        assertThat(ask("POST", "/v1/queues/q/pause", "Cookie", cookie).statusCode())
                .isEqualTo(403);
        assertThat(ask("POST", "/v1/queues/q/pause", "Cookie", cookie, "Sec-Fetch-Site", "same-site")
                        .statusCode())
                .isEqualTo(403);
        assertThat(ask("POST", "/v1/queues/q/pause", "Cookie", cookie, "Sec-Fetch-Site", "same-origin")
                        .statusCode())
                .isEqualTo(200);
        assertThat(ask("POST", "/v1/queues/q/resume", "Cookie", "a=b; " + cookie, "X-Reprise", "1")
                        .statusCode())
                .isEqualTo(200);
    }

    @Test
    void a_session_may_do_what_its_key_may() {
        String cookie = cookie(server.key("looker", null, Scope.READ));
        assertThat(ask("GET", "/v1/session", "Cookie", cookie).body()).contains("\"scopes\":[\"read\"]");
        assertThat(ask("POST", "/v1/queues/q/pause", "Cookie", cookie, "X-Reprise", "1")
                        .statusCode())
                .isEqualTo(403);
    }

    @Test
    void a_session_ends_when_it_is_ended_and_when_its_key_is_revoked_or_gets_another_secret() {
        String ended = cookie(server.admin);
        assertThat(ask("DELETE", "/v1/session", "Cookie", ended, "X-Reprise", "1")
                        .statusCode())
                .isEqualTo(204);
        assertThat(ask("GET", "/v1/session", "Cookie", ended).statusCode()).isEqualTo(401);

        String revoked = server.key("revoked", null, Scope.READ);
        String cookie = cookie(revoked);
        server.send(server.admin, "DELETE", "/v1/keys/" + revoked.split("_", -1)[1], null);
        TestServer.await(() -> ask("GET", "/v1/session", "Cookie", cookie).statusCode() == 401 ? true : null);

        String rotated = server.key("rotated", null, Scope.READ);
        String other = cookie(rotated);
        server.send(server.admin, "POST", "/v1/keys/" + rotated.split("_", -1)[1] + "/rotate", "{}");
        TestServer.await(() -> ask("GET", "/v1/session", "Cookie", other).statusCode() == 401 ? true : null);
    }

    @Test
    void a_made_up_cookie_is_nobody() {
        assertThat(ask("GET", "/v1/stats", "Cookie", "reprise_session=" + "0".repeat(64))
                        .statusCode())
                .isEqualTo(401);
        assertThat(ask("GET", "/v1/stats", "Cookie", "reprise_session=x").statusCode())
                .isEqualTo(401);
    }

    @Test
    void a_right_session_is_let_in_whatever_others_show_from_its_address() {
        String cookie = cookie(server.admin);
        String other = cookie(server.key("looker", null, Scope.READ));
        for (int i = 0; i < 150; i++) {
            String madeUp = "reprise_session=" + "%012x%064x%020x".formatted(i, i, i);
            assertThat(ask("GET", "/v1/session", "Cookie", madeUp).statusCode()).isIn(401, 429);
        }
        assertThat(ask("GET", "/v1/session", "Cookie", cookie).statusCode()).isEqualTo(200);
        assertThat(ask("GET", "/v1/session", "Cookie", other).statusCode()).isEqualTo(200);
        String fresh = cookie(server.admin);
        assertThat(ask("GET", "/v1/session", "Cookie", fresh).statusCode()).isEqualTo(200);
    }

    @Test
    void a_token_that_was_changed_is_nobody() {
        String cookie = cookie(server.key("looker", null, Scope.READ));
        String name = "reprise_session=";
        String admin = name + server.admin.split("_", -1)[1] + cookie.substring(name.length() + 12);
        assertThat(ask("GET", "/v1/session", "Cookie", admin).statusCode()).isEqualTo(401);
        assertThat(ask("GET", "/v1/session", "Cookie", cookie).statusCode()).isEqualTo(200);
    }

    @Test
    void a_key_has_so_many_sessions_at_once_and_the_oldest_ends() {
        String key = server.key("looker", null, Scope.READ);
        String kept = cookie(server.admin);
        String first = cookie(key);
        String second = cookie(key);
        for (int i = 0; i < 99; i++) {
            cookie(key);
        }
        assertThat(server.store.documents("session", 1_000, null).items()).hasSize(101);
        assertThat(ask("GET", "/v1/session", "Cookie", first).statusCode()).isEqualTo(401);
        assertThat(ask("GET", "/v1/session", "Cookie", second).statusCode()).isEqualTo(200);
        assertThat(ask("GET", "/v1/session", "Cookie", kept).statusCode()).isEqualTo(200);
    }

    @Test
    void a_session_begins_no_other_that_would_outlive_it() {
        String cookie = cookie(server.admin);
        assertThat(ask("POST", "/v1/session", "Cookie", cookie, "X-Reprise", "1")
                        .statusCode())
                .isEqualTo(403);
    }

    @Test
    void a_link_logs_in_once() {
        String link = server.server.loginLink(server.admin.split("_", -1)[1]);
        String token = link.substring(link.indexOf("link=") + 5);
        assertThat(ask("POST", "/v1/session", "Authorization", "Link " + token).statusCode())
                .isEqualTo(201);
        assertThat(ask("POST", "/v1/session", "Authorization", "Link " + token).statusCode())
                .isEqualTo(401);
    }

    @Test
    void the_page_and_its_files_need_no_key_and_may_load_nothing_from_elsewhere() {
        HttpResponse<String> page = ask("GET", "/");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                .contains("default-src 'none'", "frame-ancestors 'none'");
        java.util.regex.Matcher file =
                java.util.regex.Pattern.compile("\"(/ui/app-[0-9a-f]+\\.js)\"").matcher(page.body());
        assertThat(file.find()).isTrue();
        HttpResponse<String> script = ask("GET", file.group(1));
        assertThat(script.headers().firstValue("Cache-Control").orElseThrow()).contains("immutable");
        assertThat(script.body()).contains("navigate");
    }
}
