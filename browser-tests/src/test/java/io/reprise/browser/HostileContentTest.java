// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every field that a caller controls holds HTML, script and text that turns the text around it. Every screen shows it as
 * text: nothing of it becomes an element, and nothing runs.
 */
class HostileContentTest {

    private static final String BAD = World.HOSTILE;

    @TempDir
    Path folder;

    private World world;

    @ParameterizedTest
    @EnumSource
    void what_callers_wrote_is_text_on_every_screen(Kind kind) {
        try (World open = new World(kind.open(folder), World.builder())) {
            world = open;
            Page page = world.login(world.admin);
            page.evaluate("() => { window.dialogs = 0; window.alert = () => { window.dialogs++; }; }");
            Map<String, Boolean> screens = fill();
            screens.forEach((screen, shown) -> {
                world.open(page, screen);
                page.waitForFunction("() => !document.querySelector('main [role=status]')");
                if (shown) {
                    page.waitForFunction("text => document.querySelector('main').textContent.includes(text)", BAD);
                }
                assertThat(page.evaluate(
                                "() => document.querySelectorAll('main img, main script, main iframe').length"))
                        .as(screen)
                        .isEqualTo(0);
                assertThat(page.evaluate("() => window.hacked")).as(screen).isNull();
            });
            assertThat(world.bad).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_payload_of_a_mebibyte_is_shown_and_copied_unchanged(Kind kind) {
        try (World open = new World(kind.open(folder), World.builder())) {
            world = open;
            String begin = "{\"order\":" + World.BIG + ",\"note\":" + World.json(BAD) + ",\"pad\":\"";
            int bytes = begin.getBytes(java.nio.charset.StandardCharsets.UTF_8).length + 2;
            String payload = begin + "x".repeat((1 << 20) - bytes) + "\"}";
            String id = id(world.post("/v1/jobs", "{\"type\":\"large\",\"delay\":\"1h\",\"payload\":" + payload + "}"));
            Page page = world.login(world.admin);
            page.evaluate(
                    "() => { Object.defineProperty(navigator, 'clipboard', {value: undefined});"
                            + " document.execCommand = () => { window.copied = document.activeElement.value; return true; }; }");
            world.open(page, "/jobs/" + id);
            Locator panel = page.locator("section.panel:has(pre[aria-label=Payload])");
            panel.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("As stored"))
                    .click();
            panel.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Show all"))
                    .click();
            page.waitForFunction(
                    "() => document.querySelector('pre[aria-label=Payload]').textContent.length > 1000000");
            assertThat(page.locator("pre[aria-label=Payload]").textContent()).isEqualTo(payload);
            panel.getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Copy"))
                    .click();
            page.waitForFunction("() => window.copied");
            assertThat((String) page.evaluate("() => window.copied")).isEqualTo(payload);
            assertThat(page.evaluate("() => window.hacked")).isNull();
            assertThat(world.bad).isEmpty();
        }
    }

    /** Fills every field, and returns the screens, each with whether it must show the text. */
    private Map<String, Boolean> fill() {
        String text = World.json(BAD);
        String failure = "{\"type\":" + text + ",\"message\":" + text + ",\"code\":" + text + ",\"trace\":" + text;
        String dead = enqueue("dying");
        world.failAll("dying", 1, failure + ",\"permanent\":true}");
        String retried = enqueue("retried");
        String token = token("retried");
        world.post("/v1/leases/" + token + "/step", "{\"name\":\"charge\",\"result\":" + text + "}");
        world.post(
                "/v1/leases/" + token + "/heartbeat",
                "{\"progress\":{\"percent\":5,\"message\":" + text + "},\"log\":{\"from\":0,\"lines\":[" + text
                        + "]}}");
        world.post("/v1/leases/" + token + "/fail", failure + ",\"retryAfter\":\"1h\"}");
        String done = enqueue("done");
        world.post("/v1/leases/" + token("done") + "/complete", "{\"result\":" + text + "}");
        world.post("/v1/queues/dying/pause", "{\"why\":" + text + "}");
        world.post("/v1/resources/host/force-open", "{\"why\":" + text + "}");
        world.put(
                "/v1/schedules/nightly",
                "{\"cron\":\"0 3 * * *\",\"job\":{\"type\":\"report\",\"payload\":" + text + "}}");
        world.post(
                "/v1/webhooks",
                "{\"url\":\"https://hooks.example.org/x\",\"enabled\":false,\"description\":" + text + "}");
        world.put(
                "/v1/policies/odd",
                "{\"base\":\"2s\",\"rules\":[{\"name\":\"odd\",\"class\":\"PERMANENT\",\"messages\":[\"<script>\"]}]}");
        world.put("/v1/batches/odd", "{}");
        world.post(
                "/v1/batches/odd/jobs",
                "{\"type\":\"odd\",\"queue\":\"batched\",\"key\":" + World.json(BAD + "b") + "}");
        world.failAll("batched", 1, failure + ",\"permanent\":true}");
        String group = world.get("/v1/jobs/" + dead).replaceFirst("(?s).*?\"fingerprint\":\"([^\"]+)\".*", "$1");
        world.put("/v1/errors/" + group + "/note", "{\"text\":" + text + ",\"why\":" + text + "}");
        String webhook = world.get("/v1/webhooks").replaceFirst("(?s).*?\"id\":\"([^\"]+)\".*", "$1");
        Map<String, Boolean> screens = new LinkedHashMap<>();
        screens.put("/", false);
        screens.put("/errors", true);
        screens.put("/errors/" + group, true);
        screens.put("/jobs", true);
        screens.put("/jobs?q=" + encoded("state:failed " + BAD.substring(0, 4)), false);
        screens.put("/jobs/" + dead, true);
        screens.put("/jobs/" + retried, true);
        screens.put("/jobs/" + done, true);
        screens.put("/batches", false);
        screens.put("/batches?prefix=" + encoded(BAD), false);
        screens.put("/batches/odd", true);
        screens.put("/resources", true);
        screens.put("/resources/host", true);
        screens.put("/queues", true);
        screens.put("/queues/dying", true);
        screens.put("/schedules", false);
        screens.put("/schedules/nightly", false);
        screens.put("/workers", false);
        screens.put("/webhooks", true);
        screens.put("/webhooks/" + webhook, true);
        screens.put("/keys", false);
        screens.put("/audit", true);
        screens.put("/costs", false);
        screens.put("/policies", false);
        screens.put("/policies/odd", false);
        screens.put("/simulator?policies=" + encoded(BAD), false);
        return screens;
    }

    private static String encoded(String text) {
        return java.net.URLEncoder.encode(text, java.nio.charset.StandardCharsets.UTF_8)
                .replace("+", "%20");
    }

    private String enqueue(String queue) {
        String text = World.json(BAD);
        return id(world.post(
                "/v1/jobs",
                "{\"type\":\"odd\",\"queue\":\"" + queue + "\",\"resource\":\"host\",\"key\":" + World.json(BAD + queue)
                        + ",\"payload\":{\"n\":" + World.BIG + "," + text + ":" + text + "}}"));
    }

    private String token(String queue) {
        return world.post("/v1/leases", "{\"worker\":\"w\",\"wait\":\"20s\",\"queues\":[\"" + queue + "\"]}")
                .replaceFirst("(?s).*?\"token\":\"([^\"]+)\".*", "$1");
    }

    private static String id(String answer) {
        return answer.replaceFirst("(?s).*?\"id\":\"([^\"]+)\".*", "$1");
    }
}
