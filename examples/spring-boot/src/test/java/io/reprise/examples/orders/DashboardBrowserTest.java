// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.orders;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import io.reprise.Reprise;
import io.reprise.job.Job;
import io.reprise.job.JobQuery;
import io.reprise.testkit.servers.PostgresServer;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.core.env.Environment;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** The dashboard of the example in a real browser, after a login by Spring Security. Without a browser it is skipped. */
@DirtiesContext
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = "server.servlet.context-path=/shop")
class DashboardBrowserTest {

    /** Screens that need parts of the server that an application does not have. */
    private static final List<String> NOT_MOUNTED = List.of("/keys", "/webhooks", "/simulator");

    private final List<String> bad = new ArrayList<>();
    private Playwright playwright;
    private Browser browser;

    @Autowired
    Environment environment;

    @Autowired
    OrderService orders;

    @Autowired
    Reprise reprise;

    @BeforeEach
    void start() {
        Path program = chromium();
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        browser = playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(program)
                        .setArgs(List.of("--no-sandbox", "--disable-dev-shm-usage")));
    }

    private static Path chromium() {
        Stream<String> folders = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator));
        return Stream.concat(
                        Stream.ofNullable(System.getenv("CHROMIUM")).map(Path::of),
                        folders.flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                                .map(name -> Path.of(folder, name))))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseGet(() -> abort("NO BROWSER: set CHROMIUM, or install chromium"));
    }

    @AfterEach
    void stop() {
        if (playwright != null) {
            playwright.close();
        }
    }

    private String url(String path) {
        return "http://localhost:" + environment.getProperty("local.server.port") + "/shop" + path;
    }

    /** Opens the dashboard as somebody who is not logged in, and follows Spring Security. */
    private Page login(String user) {
        Page page = browser.newContext().newPage();
        page.setDefaultTimeout(60_000);
        page.onPageError(error -> bad.add("error " + error));
        page.onResponse(response -> {
            if (response.url().contains("/v1/") && response.status() >= 400) {
                bad.add(response.status() + " of " + response.url());
            }
        });
        page.onConsoleMessage(message -> {
            if (message.type().equals("error") && message.text().contains("Content Security Policy")) {
                bad.add(message.text());
            }
        });
        page.navigate(url("/reprise/"));
        assertThat(page.url()).as("where a stranger is sent").contains("/shop/login");
        page.locator("input[name=username]").fill(user);
        page.locator("input[name=password]").fill(user);
        page.locator("button[type=submit]").click();
        return page;
    }

    private void open(Page page, String screen) {
        page.navigate(url("/reprise/#" + screen));
        page.waitForFunction("path => location.hash.slice(1) === path && document.querySelector('main h1')", screen);
        page.locator("main h1").first().waitFor();
        page.screenshot(new Page.ScreenshotOptions()
                .setPath(Path.of("target", "screens", screen.replaceAll("[^a-z]+", "-") + ".png")));
    }

    @Test
    void an_operator_logs_in_looks_at_every_screen_and_retries_a_dead_letter() {
        orders.place("bob", 200_000);
        Job dead = deadLetter();
        Page page = login("operator");
        page.locator("nav.side").waitFor();
        List<String> screens = page.locator("nav.side a").all().stream()
                .map(link -> link.getAttribute("href").replaceFirst("^[^#]*#", ""))
                .distinct()
                .toList();
        assertThat(screens).contains("/", "/jobs", "/errors", "/queues").doesNotContainAnyElementsOf(NOT_MOUNTED);
        screens.forEach(screen -> open(page, screen));
        open(page, "/jobs/" + dead.id());
        assertThat(page.locator("main")).containsText("charge");
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Retry …"))
                .click();
        page.locator("#ask-why").fill("the card was mended");
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Retry").setExact(true))
                .last()
                .click();
        assertThat(page.locator("#toast")).containsText("The job is to be retried");
        assertThat(reprise.audit(dead.id()))
                .anySatisfy(entry -> {
                    assertThat(entry.note().by()).isEqualTo("user operator (application)");
                    assertThat(entry.note().why()).isEqualTo("the card was mended");
                });
        assertThat(bad).isEmpty();
    }

    @Test
    void who_may_only_look_has_no_control_and_who_may_not_sees_nothing() {
        orders.place("eve", 200_000);
        Job dead = deadLetter();
        Page page = login("support");
        page.locator("nav.side").waitFor();
        open(page, "/jobs/" + dead.id());
        assertThat(page.locator("main button:has-text('…')")).hasCount(0);
        assertThat(bad).isEmpty();
        Page none = login("customer");
        none.waitForLoadState();
        assertThat(none.locator("nav.side")).hasCount(0);
        assertThat(none.content()).doesNotContain("charge");
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
