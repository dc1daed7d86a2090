// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Opens every screen: wide and 320 pixels wide, light and dark. axe finds nothing, nothing sticks out, nothing that a
 * caller wrote runs, and no request leaves the server. With {@code -Dscreenshots} it draws docs/dashboard.
 */
class ScreensTest {

    private static final String AXE = "() => axe.run({resultTypes: ['violations']}).then(r => r.violations.map(v =>"
            + " v.id + ': ' + v.nodes.map(n => n.html.slice(0, 150) + ' ' + n.failureSummary).slice(0, 3).join(' | ')))";

    @TempDir
    static Path folder;

    private static World world;

    @BeforeAll
    static void start() {
        world = World.troubled(folder, Kind.SQLITE);
    }

    @AfterAll
    static void stop() {
        if (world != null) {
            world.close();
        }
    }

    private static Map<String, String> screens() {
        String group = first("/v1/dead-letters/groups?type=charge-card", "fingerprint");
        String hostile = first("/v1/dead-letters?queue=odd", "fingerprint");
        Map<String, String> screens = new LinkedHashMap<>();
        screens.put("now", "/");
        screens.put("errors", "/errors");
        screens.put("error-group", "/errors/" + group);
        screens.put("error-group-hostile", "/errors/" + hostile);
        screens.put("jobs", "/jobs");
        screens.put("jobs-dead", "/jobs?q=state%3Afailed");
        screens.put("job", "/jobs/" + first("/v1/dead-letters?queue=payments", "id"));
        screens.put("job-hostile", "/jobs/" + first("/v1/dead-letters?queue=odd", "id"));
        screens.put("job-retried", "/jobs/" + first("/v1/jobs?q=reason:retry", "id"));
        screens.put("resources", "/resources");
        screens.put("resource", "/resources/acquirer");
        screens.put("queues", "/queues");
        screens.put("queue", "/queues/mail");
        screens.put("schedules", "/schedules");
        screens.put("schedule", "/schedules/nightly");
        screens.put("workers", "/workers");
        screens.put("webhooks", "/webhooks");
        screens.put("webhook", "/webhooks/" + first("/v1/webhooks", "id"));
        screens.put("keys", "/keys");
        screens.put("audit", "/audit");
        screens.put("costs", "/costs");
        screens.put("policies", "/policies");
        screens.put("policy", "/policies/careful");
        screens.put("simulator", "/simulator");
        return screens;
    }

    private static String first(String path, String member) {
        return world.get(path).replaceFirst("(?s).*?\"" + member + "\":\"([^\"]+)\".*", "$1");
    }

    @Test
    @SuppressWarnings("unchecked")
    void every_screen_can_be_used_by_all_wide_and_narrow_light_and_dark() throws IOException {
        Page page = world.login(world.admin);
        String axe;
        try (InputStream in = ScreensTest.class.getResourceAsStream("/axe.min.js")) {
            axe = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        page.evaluate(axe);
        for (Map.Entry<String, String> screen : screens().entrySet()) {
            page.setViewportSize(1280, 900);
            world.open(page, screen.getValue());
            assertThat(page.locator("main .empty")
                            .filter(new com.microsoft.playwright.Locator.FilterOptions()
                                    .setHasText("There is nothing here"))
                            .count())
                    .as(screen.getKey())
                    .isZero();
            for (int width : List.of(1280, 320)) {
                page.setViewportSize(width, 900);
                for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
                    page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(scheme));
                    String about = screen.getKey() + " " + width + " " + scheme;
                    assertThat((List<String>) page.evaluate(AXE)).as(about).isEmpty();
                    assertThat(page.evaluate("() => document.documentElement.scrollWidth - innerWidth"))
                            .as(about + " sticks out")
                            .isEqualTo(0);
                    draw(page, screen.getKey(), width, scheme);
                }
            }
            assertThat(page.evaluate("() => window.hacked")).as(screen.getKey()).isNull();
        }
        assertThat(world.bad).isEmpty();
    }

    private static void draw(Page page, String name, int width, ColorScheme scheme) {
        boolean wanted = System.getProperty("screenshots") != null
                && !name.contains("hostile")
                && (width == 1280 || name.equals("now"))
                && (scheme == ColorScheme.LIGHT || name.equals("now") || name.equals("job-retried"));
        if (wanted) {
            String file =
                    name + (width == 1280 ? "" : "-narrow") + (scheme == ColorScheme.LIGHT ? "" : "-dark") + ".png";
            page.screenshot(new Page.ScreenshotOptions().setPath(Path.of("..", "docs", "dashboard", file)));
        }
    }
}
