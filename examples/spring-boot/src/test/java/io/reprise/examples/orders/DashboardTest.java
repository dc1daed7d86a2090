// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.testkit.servers.PostgresServer;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.env.Environment;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The dashboard at a path of the example, behind Spring Security. */
@DirtiesContext
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = "server.servlet.context-path=/shop")
class DashboardTest {

    private static final Pattern CSRF = Pattern.compile("data-csrf-header=\"([^\"]+)\" data-csrf-token=\"([^\"]+)\"");
    private static final Pattern SCRIPT = Pattern.compile("src=\"(/shop/reprise/ui/app-[^\"]+)\"");

    /** One browser. */
    private final HttpClient client =
            HttpClient.newBuilder().cookieHandler(new CookieManager()).build();

    @Autowired
    Environment environment;

    @Autowired
    OrderService orders;

    @Autowired
    Reprise reprise;

    private HttpResponse<String> call(String method, String path, String user, String body, String... headers)
            throws Exception {
        URI uri = URI.create("http://localhost:" + environment.getProperty("local.server.port") + "/shop" + path);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .method(
                        method,
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body))
                .header("Content-Type", "application/json");
        if (!user.isEmpty()) {
            byte[] login = (user + ":" + user).getBytes(StandardCharsets.UTF_8);
            request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(login));
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String found(Pattern pattern, String text, int group) {
        Matcher matcher = pattern.matcher(text);
        assertThat(matcher.find()).as(text).isTrue();
        return matcher.group(group);
    }

    @Test
    void nobody_sees_anything_without_a_login_and_a_mapped_authority() throws Exception {
        assertThat(call("GET", "/reprise/v1/jobs", "", "").statusCode()).isIn(302, 401);
        for (String path : List.of("/reprise/", "/reprise/v1/jobs", "/reprise/v1/session")) {
            assertThat(call("GET", path, "customer", "").statusCode()).as(path).isEqualTo(403);
        }
    }

    @Test
    void the_page_its_files_and_its_api_are_below_the_path() throws Exception {
        assertThat(call("GET", "/reprise", "support", "")
                        .headers()
                        .firstValue("Location")
                        .orElse(""))
                .endsWith("/shop/reprise/");
        HttpResponse<String> page = call("GET", "/reprise/", "support", "");
        assertThat(page.body()).contains("data-base=\"/shop/reprise\"");
        assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
                .contains("default-src 'none'");
        assertThat(call("GET", "/reprise/?continue", "support", "").statusCode())
                .as("as Spring Security sends a browser back after its login")
                .isEqualTo(200);
        String script = found(SCRIPT, page.body(), 1).substring("/shop".length());
        assertThat(call("GET", script, "support", "").body()).contains("ROUTES");
        assertThat(call("GET", "/reprise/v1/session", "support", "").body())
                .contains("user support (application)")
                .contains("\"scopes\":[\"read\"]");
        assertThat(call("GET", "/reprise/v1/pulse", "support", "").body()).contains("\"counts\"");
        assertThat(call("GET", "/reprise/v1/jobs?state=nonsense", "support", "").statusCode())
                .isEqualTo(400);
        for (String path : List.of("/reprise/v1/keys", "/reprise/v1/webhooks", "/reprise/v1/events", "/reprise/v1/x")) {
            assertThat(call("GET", path, "operator", "").statusCode()).as(path).isEqualTo(404);
        }
    }

    @Test
    void an_operator_retries_a_dead_letter_under_its_own_name_and_nobody_else_does() throws Exception {
        orders.place("bob", 200_000);
        Job dead = deadLetter();
        String path = "/reprise/v1/jobs/" + dead.id() + "/retry";
        String why = "{\"why\":\"the card was mended\",\"force\":true}";
        assertThat(call("POST", path, "operator", why, "X-Reprise", "1").statusCode())
                .as("without the token of Spring Security")
                .isEqualTo(403);
        String page = call("GET", "/reprise/", "operator", "").body();
        String header = found(CSRF, page, 1);
        String token = found(CSRF, page, 2);
        assertThat(call("POST", path, "operator", why, header, token).body())
                .as("from elsewhere than the page")
                .contains("X-Reprise");
        assertThat(call("POST", path, "support", why, header, token, "X-Reprise", "1")
                        .statusCode())
                .isEqualTo(403);
        assertThat(call("POST", path, "operator", why, header, token, "X-Reprise", "1")
                        .statusCode())
                .isEqualTo(200);
        assertThat(reprise.audit(dead.id()))
                .extracting(entry -> entry.note().by())
                .contains("user operator (application)");
    }

    private Job deadLetter() {
        long end = System.nanoTime() + 60_000_000_000L;
        while (true) {
            List<Job> dead = reprise.find(JobQuery.deadLetters()).items();
            if (!dead.isEmpty()) {
                return dead.get(0);
            }
            assertThat(System.nanoTime()).isLessThan(end);
            LockSupport.parkNanos(5_000_000);
        }
    }

    @DynamicPropertySource
    static void database(DynamicPropertyRegistry registry) {
        registry.add("spring.datasource.url", PostgresServer.shared()::freshDatabaseUrl);
    }
}
