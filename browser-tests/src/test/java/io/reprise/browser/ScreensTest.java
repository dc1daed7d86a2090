// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Opens every screen: wide and 320 pixels wide, light and dark. axe finds nothing, nothing sticks out, nothing that a
 * caller wrote runs, and no request leaves the server. With {@code -Dscreenshots} it draws docs/dashboard.
 */
class ScreensTest {

    /** Drawn by {@link DemoScreensTest}, where something goes on; or not for show. */
    private static final Set<String> OF_THE_DEMO = Set.of(
            "now",
            "errors",
            "error-group",
            "error-group-hostile",
            "jobs",
            "job-hostile",
            "resources",
            "resource",
            "queues",
            "queue-groups",
            "costs",
            "simulator");

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
        screens.put("job-steps", "/jobs/" + first("/v1/jobs?q=queue:fulfil%20state:pending", "id"));
        screens.put("job-unknown", "/jobs/" + first("/v1/dead-letters?queue=fulfil", "id"));
        screens.put("job-batch", "/jobs/" + first("/v1/dead-letters?queue=imports", "id"));
        screens.put("batches", "/batches");
        screens.put("batch", "/batches/import-7");
        screens.put("resources", "/resources");
        screens.put("resource", "/resources/acquirer");
        screens.put("queues", "/queues");
        screens.put("queue", "/queues/mail");
        screens.put("queue-groups", "/queues/orders");
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
        screens.put("policy-new", "/policies/new");
        screens.put("simulator", "/simulator");
        return screens;
    }

    private static String first(String path, String member) {
        return world.get(path).replaceFirst("(?s).*?\"" + member + "\":\"([^\"]+)\".*", "$1");
    }

    @Test
    void every_screen_can_be_used_by_all_wide_and_narrow_light_and_dark() {
        Page page = world.login(world.admin);
        Looks looks = new Looks(page);
        for (Map.Entry<String, String> screen : screens().entrySet()) {
            world.open(page, screen.getValue());
            page.waitForFunction("() => !document.querySelector('main [role=status]')");
            assertThat(page.locator("main .empty")
                            .filter(new Locator.FilterOptions().setHasText("There is nothing here"))
                            .count())
                    .as(screen.getKey())
                    .isZero();
            looks.at(screen.getKey(), !OF_THE_DEMO.contains(screen.getKey()));
            assertThat(page.evaluate("() => window.hacked")).as(screen.getKey()).isNull();
        }
        world.open(page, "/simulator?outage=1&rate=2&capacity=5&policies=reprise,river,sidekiq");
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Run it"))
                .click();
        page.locator("main tbody tr").nth(2).waitFor(new Locator.WaitForOptions().setTimeout(300_000));
        looks.at("simulator", true);
        assertThat(world.bad).isEmpty();
    }
}
