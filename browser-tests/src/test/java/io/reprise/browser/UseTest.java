// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.AriaRole;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Uses the dashboard as a person does, and compares with the API. Each trap that other dashboards fell into is a test. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UseTest {

    private World world;

    Kind kind() {
        return Kind.SQLITE;
    }

    @BeforeAll
    void start(@TempDir Path folder) {
        world = World.troubled(folder, kind());
    }

    @AfterAll
    void stop() {
        if (world != null) {
            world.close();
        }
    }

    @AfterEach
    void leave() {
        world.leave();
    }

    private String dead(String queue) {
        return world.get("/v1/dead-letters?queue=" + queue).replaceFirst("(?s).*?\"id\":\"([^\"]+)\".*", "$1");
    }

    private static Locator button(Page page, String name) {
        return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name));
    }

    @Test
    void a_wrong_key_is_told_and_a_right_one_goes_on() {
        Page page = world.login(world.admin);
        button(page, "Log out").click();
        page.locator("#key").fill("reprise_wrong");
        page.locator("button[type=submit]").click();
        assertThat(page.getByRole(AriaRole.ALERT)).containsText("not a valid key");
        page.locator("#key").fill(world.admin);
        page.locator("button[type=submit]").click();
        page.locator("nav.side").waitFor();
    }

    @Test
    void who_may_only_look_has_no_control_that_changes_something() {
        Page page = world.login(world.reader);
        for (String screen : List.of(
                "/errors",
                "/jobs?q=state%3Afailed",
                "/jobs/" + dead("payments"),
                "/resources/acquirer",
                "/queues",
                "/schedules",
                "/webhooks",
                "/batches",
                "/batches/import-7",
                "/batches/import-8",
                "/policies/careful")) {
            world.open(page, screen);
            assertThat(page.locator("main button:has-text('…')")).hasCount(0);
        }
        assertThat(page.locator("nav.side ul").last()).not().containsText("Keys");
        // The server refuses it as well.
        Object status =
                page.evaluate("() => fetch('/v1/queues/mail/resume', {method: 'POST', headers: {'X-Reprise': '1',"
                        + " 'Content-Type': 'application/json'}, body: '{}'}).then(a => a.status)");
        assertThat(status).isEqualTo(403);
    }

    @Test
    void a_resource_that_no_job_names_has_no_breaker_that_is_closed() {
        Page page = world.login(world.admin);
        world.open(page, "/resources/aquirer");
        assertThat(page.locator("main")).containsText("No job that waits or runs names this resource");
        assertThat(page.locator("main")).not().containsText("closed");
        assertThat(page.locator("main button:has-text('…')")).hasCount(0);
        world.open(page, "/resources/acquirer");
        assertThat(page.locator("main")).containsText("Failure rate");
    }

    @Test
    void a_payload_is_shown_and_copied_as_it_is_stored() {
        Page page = world.login(world.admin);
        world.open(page, "/jobs/" + dead("payments"));
        Locator payload = page.locator("pre[aria-label=Payload]");
        assertThat(payload).containsText(World.BIG);
        assertThat(payload.textContent()).contains("<script>window.hacked=1</script>", "\u202E");
        // Without a clipboard, as on a page that is not secure.
        page.evaluate("() => { Object.defineProperty(navigator, 'clipboard', {value: undefined});"
                + " document.execCommand = () => { window.copied = document.activeElement.value; return true; }; }");
        page.locator("section.panel:has(pre[aria-label=Payload])")
                .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName("Copy"))
                .click();
        page.waitForFunction("() => window.copied");
        assertThat((String) page.evaluate("() => window.copied"))
                .contains("\"order\":" + World.BIG)
                .contains("\u202E");
    }

    @Test
    void a_job_is_edited_and_replayed_without_a_change_of_its_numbers() {
        String id = world.post(
                        "/v1/jobs", "{\"type\":\"edit\",\"queue\":\"edits\",\"payload\":{\"n\":" + World.BIG + "}}")
                .replaceFirst("(?s).*?\"id\":\"([^\"]+)\".*", "$1");
        world.failAll("edits", 1, "{\"type\":\"Bad\",\"permanent\":true}");
        Page page = world.login(world.admin);
        world.open(page, "/jobs/" + id);
        button(page, "Edit and replay …").click();
        Locator text = page.locator("dialog textarea");
        text.fill("{\"n\":" + World.BIG + ",\"more\":1234567890123456789}");
        page.locator("#ask-why").fill("the amount was wrong");
        button(page, "Replay").last().click();
        page.waitForFunction("old => location.hash !== '#/jobs/' + old", id);
        String now = ((String) page.evaluate("() => location.hash")).replace("#/jobs/", "");
        assertThat(world.get("/v1/jobs/" + now)).contains("{\"n\":" + World.BIG + ",\"more\":1234567890123456789}");
        assertThat(world.get("/v1/audit?limit=20")).contains("the amount was wrong");
    }

    @Test
    void the_search_line_finds_what_the_api_finds_and_stays_in_the_address() {
        Page page = world.login(world.admin);
        page.keyboard().press("/");
        page.keyboard().type("state:failed queue:payments");
        page.keyboard().press("Enter");
        page.waitForFunction("() => location.hash === '#/jobs?q=state%3Afailed%20queue%3Apayments'");
        assertThat(page.locator("main tbody tr").first()).containsText("charge-card");
        assertThat(page.locator("main tbody tr")).hasCount(12);
        world.open(page, "/jobs?q=colour%3Ared");
        assertThat(page.locator("main .empty")).containsText("no qualifier");
    }

    @Test
    void a_group_is_replayed_by_keyboard_alone_and_stops_when_its_canaries_fail() {
        for (int i = 0; i < 5; i++) {
            world.post("/v1/jobs", "{\"type\":\"load\",\"queue\":\"loads\",\"maxAttempts\":1}");
        }
        String failure = "{\"type\":\"StillBroken\",\"message\":\"column vat is missing\",\"permanent\":true}";
        world.failAll("loads", 5, failure);
        Page page = world.login(world.admin);
        // The server counts groups now and then. One that came after the list was read is behind "1 new, show".
        page.waitForCondition(() -> world.get("/v1/errors").contains("StillBroken"));
        page.keyboard().press("g");
        page.keyboard().press("e");
        page.waitForFunction("() => location.hash === '#/errors'");
        Locator row = page.locator("main tr", new Page.LocatorOptions().setHasText("StillBroken"));
        row.waitFor();
        for (int i = 0; i < 10 && !String.valueOf(row.getAttribute("class")).contains("at"); i++) {
            page.keyboard().press("j");
        }
        page.keyboard().press("Enter");
        page.waitForFunction("() => location.hash.startsWith('#/errors/')");
        button(page, "Replay slowly …").waitFor();
        button(page, "Replay slowly …").focus();
        page.keyboard().press("Enter");
        page.locator("#ask-canary").waitFor();
        page.locator("#ask-canary").focus();
        page.keyboard().press("Control+a");
        page.keyboard().type("2");
        page.locator("#ask-why").focus();
        page.keyboard().type("is it mended?");
        page.keyboard().press("Enter");
        assertThat(page.locator(".replay")).containsText("canaries first");
        world.failAll("loads", 2, failure);
        assertThat(page.locator(".replay")).containsText("stopped itself");
        assertThat(world.get("/v1/replays")).contains("\"STOPPED\"", "is it mended?");
    }

    @Test
    void all_that_match_are_changed_as_an_operation_with_progress() {
        for (int i = 0; i < 3; i++) {
            world.post("/v1/jobs", "{\"type\":\"many\",\"queue\":\"many\",\"delay\":\"1h\"}");
        }
        Page page = world.login(world.admin);
        world.open(page, "/jobs?q=state%3Apending%20queue%3Amany");
        button(page, "Cancel all that match …").click();
        assertThat(page.locator("dialog h2")).hasText("Cancel 3 jobs?");
        page.locator("#ask-why").fill("a mistake");
        button(page, "Cancel them").click();
        assertThat(page.locator("main")).containsText("3 jobs changed, 0 refused");
        assertThat(world.get("/v1/jobs?queue=many")).doesNotContain("PENDING");
        assertThat(world.get("/v1/bulks")).contains("\"DONE\"", "a mistake");
    }

    @Test
    void a_breaker_is_left_to_itself_after_a_preview_of_what_follows() {
        world.post("/v1/jobs", "{\"type\":\"a\",\"queue\":\"other\",\"resource\":\"billing\"}");
        world.post("/v1/resources/billing/force-open", "{\"why\":\"test\"}");
        Page page = world.login(world.admin);
        world.open(page, "/resources/billing");
        button(page, "Leave it to itself …").click();
        assertThat(page.locator("dialog")).containsText("decides by itself again");
        page.locator("#ask-why").fill("it is back");
        button(page, "Leave it to itself").last().click();
        assertThat(page.locator("dialog")).hasCount(0);
        assertThat(world.get("/v1/audit?limit=20")).contains("it is back");
    }

    @Test
    void a_list_does_not_move_under_the_hand() {
        Page page = world.login(world.admin);
        world.open(page, "/jobs");
        String first = page.locator("main tbody tr").first().getAttribute("data-to");
        double top = page.locator("main tbody tr").first().boundingBox().y;
        world.post("/v1/jobs", "{\"type\":\"newcomer\",\"queue\":\"new\",\"delay\":\"1h\"}");
        Locator fresh = page.locator("button.fresh");
        fresh.waitFor();
        assertThat(fresh).containsText("new, show");
        assertThat(page.locator("main tbody tr").first().getAttribute("data-to"))
                .isEqualTo(first);
        assertThat(page.locator("main tbody tr").first().boundingBox().y).isEqualTo(top);
        fresh.click();
        assertThat(page.locator("main tbody tr").first()).containsText("newcomer");
    }

    @Test
    void a_paused_page_asks_for_nothing_also_when_it_is_looked_at_again() {
        Page page = world.login(world.admin);
        world.open(page, "/queues");
        page.locator(".live button").click();
        assertThat(page.locator(".live button")).containsText("Paused");
        page.waitForFunction(
                "async () => { const {counted} = await import('/ui/net.js'); const before = counted.requests;"
                        + " await new Promise(r => setTimeout(r, 300)); return counted.requests === before; }");
        Object more = page.evaluate(
                "async () => { const {counted} = await import('/ui/net.js'); const before = counted.requests;"
                        + " for (let i = 0; i < 20; i++) { window.dispatchEvent(new Event('focus')); document.dispatchEvent(new Event('visibilitychange')); }"
                        + " await new Promise(r => setTimeout(r, 300)); return counted.requests - before; }");
        assertThat(more).isEqualTo(0);
    }

    @Test
    void a_slow_answer_does_not_overwrite_what_was_opened_later() {
        Page page = world.login(world.admin);
        world.open(page, "/audit");
        // The answer for queues is held until the next screen is there.
        java.util.List<com.microsoft.playwright.Route> held = new java.util.concurrent.CopyOnWriteArrayList<>();
        page.route("**/v1/queues", held::add);
        page.evaluate("() => { location.hash = '/queues'; }");
        page.waitForCondition(() -> !held.isEmpty());
        page.evaluate("() => { location.hash = '/workers'; }");
        assertThat(page.locator("main h1")).hasText("Workers");
        held.forEach(route -> {
            try {
                route.resume();
            } catch (com.microsoft.playwright.PlaywrightException e) {
                // The page gave the request up.
            }
        });
        page.waitForFunction("() => document.querySelector('main h1').textContent === 'Workers'");
        assertThat(page.locator("main")).containsText("reported within");
    }

    @Test
    void a_lost_connection_is_told_and_what_is_shown_is_marked_old() {
        Page page = world.login(world.admin);
        world.open(page, "/queues");
        page.context().setOffline(true);
        assertThat(page.locator(".lost")).containsText("has not answered");
        assertThat(page.locator(".old table")).isVisible();
        page.context().setOffline(false);
        assertThat(page.locator(".lost")).hasCount(0);
    }

    @Test
    void a_server_that_says_nothing_is_told_as_lost() {
        Page page = world.login(world.admin);
        world.open(page, "/queues");
        page.route("**/v1/**", route -> {});
        assertThat(page.locator(".lost")).containsText("has not answered");
        assertThat(page.locator(".lost")).not().containsText(" ms");
        assertThat(page.locator(".live button")).containsText("Not connected");
        page.unroute("**/v1/**");
        assertThat(page.locator(".live button")).containsText("Live");
        assertThat(page.locator(".lost")).hasCount(0);
    }

    @Test
    void a_row_whose_job_no_longer_matches_stays_in_its_place_and_says_so() {
        String job = "{\"type\":\"a\",\"queue\":\"leaving\",\"delay\":\"1h\"}";
        world.post("/v1/jobs", job);
        String id = id(world.post("/v1/jobs", job));
        Page page = world.login(world.admin);
        world.open(page, "/jobs?q=queue%3Aleaving%20state%3Apending");
        assertThat(page.locator("main tbody tr")).hasCount(2);
        world.post("/v1/jobs/" + id + "/cancel", "{}");
        assertThat(page.locator("main tbody tr").first()).containsText("was pending");
        assertThat(page.locator("main tbody tr").last()).not().containsText("was pending");
        assertThat(page.locator("main tbody tr")).hasCount(2);
    }

    @Test
    void the_calls_in_flight_of_a_resource_lead_to_the_jobs_that_run() {
        String id = id(world.post(
                "/v1/jobs", "{\"type\":\"a\",\"queue\":\"calls\",\"resource\":\"ledger\",\"maxAttempts\":1}"));
        String lease = world.lease("calls");
        Page page = world.login(world.admin);
        world.open(page, "/resources/ledger");
        Locator tile = page.locator(".tile", new Page.LocatorOptions().setHasText("in flight"));
        assertThat(tile.locator("b")).hasText("1");
        tile.click();
        assertThat(page.locator("main tbody tr")).hasCount(1);
        assertThat(page.locator("main tbody")).containsText(id);
        world.post("/v1/leases/" + lease + "/complete", "{}");
    }

    @Test
    void an_alert_leads_to_the_jobs_or_the_queue_that_it_is_about() {
        Page page = world.login(world.admin);
        String alerts = "\"alerts\":["
                + "{\"kind\":\"DEAD_LETTERS\",\"type\":\"charge-card\",\"since\":\"2026-01-01T00:00:00Z\",\"message\":\"many\"},"
                + "{\"kind\":\"LATE_STARTS\",\"type\":\"orders\",\"since\":\"2026-01-01T00:00:00Z\",\"message\":\"late\"}]";
        page.route("**/v1/pulse", route -> {
            APIResponse answer = route.fetch();
            route.fulfill(new Route.FulfillOptions()
                    .setResponse(answer)
                    .setBody(answer.text().replaceFirst("\"alerts\":\\[[^]]*]", alerts)));
        });
        world.open(page, "/");
        page.getByRole(
                        AriaRole.LINK,
                        new Page.GetByRoleOptions().setName("many").setExact(true))
                .click();
        assertThat(page.locator("main code")).hasText("state:failed type:charge-card");
        world.open(page, "/");
        page.getByRole(
                        AriaRole.LINK,
                        new Page.GetByRoleOptions().setName("late").setExact(true))
                .click();
        assertThat(page.locator("main h1")).hasText("Queue orders");
        page.unrouteAll();
    }

    @Test
    void jobs_that_died_without_an_error_are_a_group_of_their_own() {
        String id = id(world.post("/v1/jobs", "{\"type\":\"a\",\"queue\":\"lates\",\"policy\":{\"deadline\":\"1s\"}}"));
        Page page = world.login(world.admin);
        // A list that is open keeps a new error back, so it is opened when the server has counted the error.
        page.waitForCondition(() -> world.get("/v1/errors").contains("\"fingerprint\":null"));
        world.open(page, "/errors");
        Locator row = page.locator("main tr", new Page.LocatorOptions().setHasText("its deadline passed"));
        row.locator("a").first().click();
        assertThat(page.locator("main h1")).hasText("No error");
        assertThat(page.locator(".tile").first()).containsText("1");
        assertThat(panel(page, "Dead letters").locator("tbody tr")).hasCount(1);
        assertThat(panel(page, "Dead letters").locator("tbody")).containsText(id);
    }

    @Test
    void a_simulation_runs_on_the_server_and_its_link_shows_the_same_one() {
        Page page = world.login(world.admin);
        page.setDefaultTimeout(300_000);
        world.open(page, "/simulator?outage=1&rate=2&capacity=5&seed=7&policies=reprise,oban");
        button(page, "Run it").click();
        page.locator("main tbody tr").nth(1).waitFor();
        String first = page.locator("main tbody").last().innerText();
        assertThat(first).contains("reprise", "oban");
        button(page, "Run it").click();
        page.waitForFunction("() => [...document.querySelectorAll('main button')].some(b => b.textContent === 'Run it')"
                + " && document.querySelectorAll('main tbody tr').length === 2");
        assertThat(page.locator("main tbody").last().innerText()).isEqualTo(first);
    }

    @Test
    void a_policy_is_plotted_and_linted_while_it_is_written() {
        Page page = world.login(world.admin);
        world.open(page, "/policies/careful");
        page.locator("#p-json").fill("{\"base\":\"1s\",\"jitter\":\"none\",\"maxAttempts\":3}");
        assertThat(page.locator("main")).containsText("Gives up after 3 attempts");
        assertThat(page.locator(".lint").first()).isVisible();
        page.locator("#p-json").fill("{\"base\":\"soon\"}");
        assertThat(page.locator(".problem[role=alert]")).containsText("base");
    }

    private static String id(String answer) {
        return answer.replaceFirst("(?s).*?\"id\":\"([^\"]+)\".*", "$1");
    }

    @Test
    void a_person_says_how_a_step_ended_and_the_job_goes_on() {
        String id = id(world.post("/v1/jobs", "{\"type\":\"pay\",\"queue\":\"pays\"}"));
        String token = world.lease("pays");
        world.post("/v1/leases/" + token + "/step", "{\"name\":\"charge\",\"started\":true}");
        world.post("/v1/leases/" + token + "/fail", "{\"type\":\"Timeout\",\"permanent\":true}");
        Page page = world.login(world.admin);
        world.open(page, "/jobs/" + id);
        assertThat(page.locator("main")).containsText("began, end unknown");
        button(page, "It was done …").click();
        page.locator("#ask-result").fill("{\"receipt\":" + World.BIG + "}");
        page.locator("#ask-why").fill("the bank says so");
        button(page, "It was done").last().click();
        assertThat(page.locator("dialog")).hasCount(0);
        assertThat(page.locator("main")).containsText(World.BIG);
        assertThat(world.get("/v1/jobs/" + id + "/steps")).contains("\"DONE\"", World.BIG);
        assertThat(world.get("/v1/audit?job=" + id)).contains("the bank says so");
        // The handler cannot read that. So the person says it again.
        world.post("/v1/leases/" + world.lease("pays") + "/fail", "{\"type\":\"Unreadable\",\"permanent\":true}");
        page.reload();
        button(page, "It was done …").click();
        page.locator("#ask-result").fill("{\"receipt\":\"R7\"}");
        page.locator("#ask-why").fill("without its number");
        button(page, "It was done").last().click();
        assertThat(page.locator("dialog")).hasCount(0);
        assertThat(page.locator("main")).containsText("R7");
    }

    @Test
    void the_lines_that_a_handler_wrote_are_shown_beside_its_job() {
        String id = id(world.post("/v1/jobs", "{\"type\":\"talk\",\"queue\":\"talks\"}"));
        String token = world.lease("talks");
        String lines = "{\"from\":0,\"lines\":[\"sent 3 of 7 parcels\",\"the printer is slow\"]}";
        world.post("/v1/leases/" + token + "/heartbeat", "{\"log\":" + lines + "}");
        Page page = world.login(world.admin);
        List<String> asked = new ArrayList<>();
        page.onRequest(
                request -> asked.add(request.url().substring(world.server.url().length())));
        world.open(page, "/jobs/" + id);
        assertThat(page.locator("main")).containsText("sent 3 of 7 parcels");
        assertThat(page.locator("main")).containsText("2 lines");
        world.post("/v1/leases/" + token + "/complete", "{\"log\":{\"from\":2,\"lines\":[\"done\"]}}");
        assertThat(page.locator("main")).containsText("3 lines");
        // The whole log is read once; then the last run, and nothing while the job stays as it is.
        String log = "/v1/jobs/" + id + "/log";
        assertThat(asked).containsOnlyOnce(log);
        asked.clear();
        page.waitForCondition(() -> Collections.frequency(asked, "/v1/jobs/" + id + "/plan") >= 3);
        assertThat(asked).doesNotContain(log);
        assertThat(asked.stream().filter(path -> path.startsWith(log)).count()).isLessThan(3);
    }

    @Test
    void an_error_that_is_only_retried_has_the_hours_in_which_it_was_seen() {
        Page page = world.login(world.reader);
        world.open(page, "/errors");
        Locator row = page.locator("main tr", new Page.LocatorOptions().setHasText("Busy"));
        assertThat(row).containsText("none dead");
        // Workers report what they counted every 10 s.
        row.locator("time").first().waitFor();
        assertThat(row.locator("time").first()).containsText("after");
        row.locator("a").first().click();
        Locator tile = page.locator(".tile", new Page.LocatorOptions().setHasText("first, last failure by hour"));
        tile.locator("time").first().waitFor();
        assertThat(tile.locator("time").first()).containsText("after");
    }

    @Test
    void an_event_is_told_to_the_job_that_waits_for_it() {
        String id = id(world.post("/v1/jobs", "{\"type\":\"wait\",\"queue\":\"waits\",\"group\":\"tenant-7\"}"));
        String token = world.lease("waits");
        world.post("/v1/leases/" + token + "/await", "{\"name\":\"approval\",\"duration\":\"2h\"}");
        Page page = world.login(world.admin);
        world.open(page, "/jobs/" + id);
        assertThat(page.locator("main")).containsText("tenant-7");
        button(page, "Tell an event …").click();
        assertThat(page.locator("#ask-name")).hasValue("approval");
        page.locator("#ask-value").fill("{\"by\":\"ada\"}");
        button(page, "Tell it").click();
        assertThat(page.locator("main")).containsText("\"by\":\"ada\"");
        assertThat(world.get("/v1/jobs/" + id + "/steps")).contains("ada");
        world.open(page, "/queues/waits");
        assertThat(page.locator("main")).containsText("tenant-7");
    }

    @Test
    void a_queue_shows_its_largest_groups_its_limits_and_its_service_level() {
        Page page = world.login(world.admin);
        world.open(page, "/queues/orders");
        Locator groups = panel(page, "Groups");
        assertThat(groups.locator("tbody tr")).hasCount(4);
        assertThat(groups.locator("tbody tr").first()).containsText("shop-7");
        assertThat(groups.locator("tbody tr").first()).containsText("6");
        Locator limits = panel(page, "Limits");
        assertThat(limits).containsText("at most 50 at once");
        assertThat(limits.locator("tr", of("each group"))).containsText("at most 5 at once");
        assertThat(limits.locator("tr", of("group shop-7"))).containsText("in order");
        assertThat(limits.locator("tr", of("type pack")))
                .containsText("100 starts per 1 min, 20 at once after a pause");
        assertThat(limits.locator("tr", of("gold-*"))).containsText("5 jobs per turn");
        assertThat(panel(page, "Service level")).containsText("within 1 ms");
        assertThat(panel(page, "Service level")).containsText("No job has started yet");
        // A pause reaches the jobs with needs, which wait in a queue of their own.
        button(page, "Pause …").click();
        page.locator("#ask-why").fill("the packers are at lunch");
        button(page, "Pause").last().click();
        assertThat(page.locator("main header")).containsText("the packers are at lunch");
        panel(page, "Jobs with needs").locator("tbody a").first().click();
        assertThat(page.locator("main h1")).hasText("Queue orders@needs:eu:gpu");
        assertThat(page.locator("main header")).containsText("the packers are at lunch");
        world.post("/v1/queues/orders/resume", "{}");
        // Starts are counted minute by minute, so the test does not wait for them.
        String counted =
                "{\"started\":200,\"late\":20,\"inTime\":0.9,\"items\":[{\"group\":\"shop-7\",\"jobs\":6,\"started\":90,"
                        + "\"late\":17}]}";
        page.route(
                "**/v1/queues/orders/groups",
                route -> route.fulfill(new Route.FulfillOptions()
                        .setContentType("application/json")
                        .setBody(counted)));
        world.open(page, "/queues/orders");
        assertThat(panel(page, "Service level")).containsText("90 % of 200 jobs started in time, 20 late");
        assertThat(panel(page, "Groups").locator("tbody tr").first()).containsText("17");
    }

    private static Locator panel(Page page, String title) {
        return page.locator("section.panel")
                .filter(new Locator.FilterOptions()
                        .setHas(page.locator("h2", new Page.LocatorOptions().setHasText(title))));
    }

    private static Locator.LocatorOptions of(String text) {
        return new Locator.LocatorOptions().setHasText(text);
    }

    @Test
    void an_error_has_a_note_and_can_be_muted() {
        world.post("/v1/jobs", "{\"type\":\"noted\",\"queue\":\"noted\"}");
        world.failAll("noted", 1, "{\"type\":\"KnownBug\",\"message\":\"order 17 is odd\",\"permanent\":true}");
        Page page = world.login(world.admin);
        world.open(page, "/errors");
        Locator row = page.locator("main tr", new Page.LocatorOptions().setHasText("KnownBug"));
        // The group may have come before the screen or after it.
        Locator fresh = page.locator("button.fresh");
        row.or(fresh).first().waitFor();
        if (!row.isVisible()) {
            fresh.click();
        }
        assertThat(row).containsText("order ? is odd");
        row.locator("a").first().click();
        button(page, "Note …").click();
        page.locator("#ask-text").fill("known, INC-12");
        page.locator("#ask-muted").check();
        button(page, "Keep the note").click();
        assertThat(page.locator(".note")).containsText("known, INC-12");
        assertThat(world.get("/v1/errors")).contains("known, INC-12");
        world.open(page, "/");
        assertThat(page.locator("main")).not().containsText("KnownBug");
    }

    @Test
    void a_column_that_is_not_wanted_goes_and_stays_away() {
        Page page = world.login(world.admin);
        world.open(page, "/jobs");
        assertThat(page.locator("main thead")).containsText("queue");
        page.locator(".columns summary").click();
        page.getByLabel("queue", new Page.GetByLabelOptions().setExact(true)).uncheck();
        assertThat(page.locator("main thead")).not().containsText("queue");
        world.open(page, "/queues");
        world.open(page, "/jobs");
        assertThat(page.locator("main thead")).not().containsText("queue");
    }

    @Test
    void each_screen_shows_what_the_api_says() {
        Page page = world.login(world.admin);
        String pulse = world.get("/v1/pulse");
        world.open(page, "/");
        assertThat(page.locator("main .lead")).hasText(pulse.replaceFirst("(?s).*?\"sentence\":\"([^\"]+)\".*", "$1"));
        world.open(page, "/queues");
        for (String queue : List.of("payments", "mail", "odd")) {
            assertThat(page.locator("main tbody")).containsText(queue);
        }
        world.open(page, "/schedules/nightly");
        String next = world.get("/v1/schedules/nightly/next?count=10");
        String first = next.replaceFirst("(?s).*?\"(20[^\"]+)Z\".*", "$1").replace("T", " ");
        assertThat(page.locator("main ol.log li")).hasCount(10);
        assertThat(page.locator("main ol.log li").first()).containsText(first);
        world.open(page, "/workers");
        assertThat(page.locator("main")).containsText("test-server");
        world.open(page, "/keys");
        assertThat(page.locator("main tbody")).containsText("reader");
        world.open(page, "/webhooks");
        assertThat(page.locator("main tbody")).containsText("hooks.example.org");
        world.open(page, "/policies");
        assertThat(page.locator("main tr", new Page.LocatorOptions().setHasText("omniq-unlimited")))
                .containsText("no limit");
        assertThat(page.locator("main tr", new Page.LocatorOptions().setHasText("careful")))
                .containsText("from 2 s × 3 up to 1 h");
        world.open(page, "/policies/careful");
        assertThat(page.locator("main")).containsText("Five jobs");
        String job = dead("payments");
        world.open(page, "/jobs/" + job);
        String sentence = world.get("/v1/jobs/" + job + "/explain")
                .replaceFirst("(?s).*?\"sentence\":\"((?:[^\"\\\\]|\\\\.)+)\".*", "$1");
        // How long ago it was changes while one looks.
        assertThat(page.locator("main .why").first())
                .containsText(sentence.replace("\\\"", "\"").replaceFirst("(?s)^.* ago", "ago"));
    }

    @Test
    void an_address_without_a_screen_leads_back() {
        Page page = world.login(world.admin);
        world.open(page, "/nowhere");
        page.locator("main .empty a").click();
        assertThat(page.locator("main h1")).hasText("Now");
    }

    @Test
    void a_number_beside_a_screen_says_what_it_counts() {
        world.post("/v1/jobs", "{\"type\":\"a\",\"queue\":\"busy\"}");
        world.lease("busy");
        Page page = world.login(world.admin);
        world.open(page, "/");
        assertThat(page.locator("nav.side a[href='#/errors'] .badge")).hasText(Pattern.compile("[\\d,.]+K? dead"));
        assertThat(page.locator("nav.side a[href='#/jobs'] .badge")).hasText(Pattern.compile("[\\d,.]+K? running"));
    }

    @Test
    void the_audit_log_leads_to_what_was_changed() {
        Page page = world.login(world.admin);
        world.open(page, "/audit");
        Locator paused = page.locator("main tr", new Page.LocatorOptions().setHasText("the provider moves"));
        assertThat(paused.locator("a")).hasText("queue mail");
        assertThat(page.locator("main a[href='#/schedules/nightly']").first()).hasText("schedule nightly");
        Locator session = page.locator("main tr", new Page.LocatorOptions().setHasText("log-in"))
                .first();
        assertThat(session).not().containsText("session/");
        paused.locator("a").click();
        assertThat(page.locator("main h1")).hasText("Queue mail");
    }

    @Test
    void a_batch_shows_its_progress_its_members_and_is_closed() {
        Page page = world.login(world.admin);
        world.open(page, "/batches");
        Locator row = page.locator("tr", new Page.LocatorOptions().setHasText("import-7"));
        assertThat(row).containsText("50 %");
        row.locator("a").first().click();
        assertThat(page.locator("h1")).hasText("Batch import-7");
        assertThat(page.locator(".tile", new Page.LocatorOptions().setHasText("open"))
                        .first())
                .containsText("2");
        Locator dead = page.locator("section", new Page.LocatorOptions().setHasText("Dead members"));
        assertThat(dead.locator("tbody tr")).hasCount(1);
        dead.locator("tbody a").first().click();
        assertThat(page.locator("dl.facts").last()).containsText("import-7");
        assertThat(page.locator("dl.facts").last()).containsText("index-part");
        // Every number leads to the list it counts.
        world.open(page, "/batches/import-7");
        page.locator("a.tile", new Page.LocatorOptions().setHasText("succeeded"))
                .click();
        assertThat(page.locator("main tbody tr")).hasCount(1);
        assertThat(page.locator("#q")).hasValue("state:succeeded batch:\"import-7\"");
        world.open(page, "/batches/import-8");
        button(page, "Close …").click();
        button(page, "Close it").click();
        assertThat(button(page, "Close …")).hasCount(0);
        assertThat(world.get("/v1/batches/import-8")).doesNotContain("\"closedAt\":null");
    }

    @Test
    void a_group_is_replayed_with_a_change_of_each_payload_that_was_looked_at_first() {
        for (int i = 0; i < 2; i++) {
            world.post(
                    "/v1/jobs",
                    "{\"type\":\"ship\",\"queue\":\"ships\",\"payload\":{\"order\":" + World.BIG + ",\"n\":" + i
                            + "}}");
        }
        world.failAll("ships", 2, "{\"type\":\"NoCountry\",\"message\":\"no country\",\"permanent\":true}");
        String group = world.get("/v1/dead-letters/groups?type=ship")
                .replaceFirst("(?s).*?\"fingerprint\":\"([^\"]+)\".*", "$1");
        Page page = world.login(world.admin);
        world.open(page, "/errors/" + group);
        button(page, "Replay slowly …").click();
        page.locator("#ask-patch").fill("{\"country\":\"NO\",\"code\":1234567890123456789}");
        page.locator("#ask-why").fill("the country was missing");
        button(page, "Start with the canaries").click();
        assertThat(page.locator("pre[aria-label='Payload after']")).containsText("\"code\": 1234567890123456789");
        assertThat(world.get("/v1/replays?limit=1000")).doesNotContain("the country was missing");
        button(page, "Start with the canaries").click();
        assertThat(page.locator(".replay")).containsText("country");
        assertThat(world.get("/v1/replays?limit=1000")).contains("the country was missing");
        page.waitForFunction("() => fetch('/v1/jobs?q=type:ship%20state:pending&payloads=true').then(a => a.text())"
                + ".then(t => t.includes('\"country\":\"NO\",\"code\":1234567890123456789'))");
        assertThat(world.get("/v1/jobs?type=ship&payloads=true"))
                .contains("{\"order\":" + World.BIG + ",\"n\":1,\"country\":\"NO\",\"code\":1234567890123456789}");
    }
}
