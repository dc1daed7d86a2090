// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import io.reprise.JobRequest;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.retry.RetryPolicy;
import io.reprise.store.JobStore;
import java.net.ConnectException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A dependency goes down and comes back, and a group of dead letters is replayed, while a person looks on. */
class OutageScreensTest {

    private static final int GROUP = 5_000;

    private static final LocatorAssertions.ContainsTextOptions LONG =
            new LocatorAssertions.ContainsTextOptions().setTimeout(120_000);

    private record Order(int number) {}

    private final JobType<Order> charge = JobType.of("charge", Order.class)
            .retry(RetryPolicy.exponential(Duration.ofSeconds(1)).maxAttempts(20));
    private final JobType<Order> load = JobType.of("load", Order.class)
            .retry(RetryPolicy.exponential(Duration.ofMillis(10)).maxAttempts(1));
    private final AtomicBoolean down = new AtomicBoolean();
    private final AtomicBoolean bug = new AtomicBoolean(true);

    @TempDir
    Path folder;

    private World world(Kind kind) {
        JobStore store = kind.open(folder);
        return new World(
                store,
                World.builder()
                        .threads(8)
                        .concurrency(64)
                        .handle(charge, (order, job) -> {
                            if (down.get()) {
                                throw new ConnectException("the acquirer is down");
                            }
                        })
                        .handle(load, (order, job) -> {
                            if (bug.get()) {
                                throw new IllegalStateException("column 'vat' is missing");
                            }
                        }));
    }

    private void arrive(Reprise reprise, int jobs) {
        for (int i = 0; i < jobs; i++) {
            reprise.enqueue(charge.job(new Order(i)).resource("acquirer"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_outage_is_seen_from_its_beginning_to_its_end_without_a_reload(Kind kind) {
        try (World world = world(kind)) {
            Page page = world.login(world.admin);
            world.open(page, "/errors");
            assertThat(page.locator("main")).containsText("No job has failed");
            page.evaluate("() => { window.same = true; }");
            down.set(true);
            arrive(world.server.reprise(), 60);
            Locator row = page.locator("main tr", new Page.LocatorOptions().setHasText("the acquirer is down"));
            row.waitFor();
            assertThat(page.locator("main tbody tr")).hasCount(1);
            page.evaluate("() => { location.hash = '/resources/acquirer'; }");
            assertThat(page.locator("main")).containsText(Pattern.compile("▲ open|◒ half open"), LONG);
            arrive(world.server.reprise(), 40);
            Locator parked = page.locator("main .tile", new Page.LocatorOptions().setHasText("parked"));
            assertThat(parked).containsText(Pattern.compile("[1-9]"), LONG);
            assertThat(world.get("/v1/pulse")).contains("\"FAILED\":0");
            down.set(false);
            assertThat(parked).containsText(Pattern.compile("parked\\s*0"), LONG);
            assertThat(page.locator("main header")).containsText("closed", LONG);
            page.evaluate("() => { location.hash = '/errors'; }");
            assertThat(page.locator("main")).containsText(Pattern.compile("No job has failed|0 errors"), LONG);
            assertThat(page.evaluate("() => window.same")).isEqualTo(true);
            // Workers write changes of breakers with their reports, every ten seconds.
            for (int looks = 0; looks < 6_000 && !history(world).contains("BREAKER_OPENED"); looks++) {
                LockSupport.parkNanos(10_000_000);
            }
            assertThat(history(world)).contains("BREAKER_OPENED");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_group_is_replayed_by_keyboard_and_stops_while_the_bug_is_there(Kind kind) {
        try (World world = world(kind)) {
            List<JobRequest<?>> jobs = new ArrayList<>();
            for (int i = 0; i < GROUP; i++) {
                jobs.add(load.job(new Order(i)).queue("imports"));
            }
            world.server.reprise().enqueueAll(jobs);
            Page page = world.login(world.admin);
            page.keyboard().press("g");
            page.keyboard().press("e");
            Locator row = page.locator("main tr", new Page.LocatorOptions().setHasText("column ? is missing"));
            assertThat(row).containsText("5,000", LONG);
            page.keyboard().press("j");
            page.keyboard().press("Enter");
            page.waitForFunction("() => location.hash.startsWith('#/errors/')");
            replay(page, 100);
            assertThat(page.locator(".replay")).containsText("stopped itself", LONG);
            assertThat(page.locator(".canaries")).containsText("failed");
            bug.set(false);
            replay(page, 500);
            assertThat(page.locator(".replay")).containsText("done", LONG);
            assertThat(page.locator(".replay")).containsText("5,000");
            // The server counts jobs at most once a second, and a slow count less often.
            for (int looks = 0; looks < 6_000 && !world.get("/v1/pulse").contains("\"FAILED\":0"); looks++) {
                LockSupport.parkNanos(10_000_000);
            }
            assertThat(world.get("/v1/pulse")).contains("\"FAILED\":0");
            assertThat(world.bad).isEmpty();
        }
    }

    /** Tabs to the button and through the form, and types. */
    private static void replay(Page page, int rate) {
        Locator button = page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Replay slowly …"));
        button.waitFor();
        press(page, "Tab", "() => document.activeElement.textContent.startsWith('Replay slowly')");
        page.keyboard().press("Enter");
        page.locator("#ask-canary").waitFor();
        press(page, "Tab", "() => document.activeElement.id === 'ask-canary'");
        type(page, "3");
        press(page, "Tab", "() => document.activeElement.id === 'ask-rate'");
        type(page, Integer.toString(rate));
        press(page, "Tab", "() => document.activeElement.id === 'ask-why'");
        type(page, "is it mended?");
        page.keyboard().press("Enter");
        page.waitForFunction("() => !document.querySelector('dialog[open]')");
        // The button that was pressed is gone while a replay is under way.
        assertThat(page.evaluate("() => document.activeElement.tagName")).isNotEqualTo("BODY");
    }

    private static String history(World world) {
        return world.get("/v1/resources/acquirer/history");
    }

    private static void press(Page page, String key, String until) {
        for (int i = 0; i < 100 && !Boolean.TRUE.equals(page.evaluate(until)); i++) {
            page.keyboard().press(key);
        }
        assertThat(page.evaluate(until)).as(until).isEqualTo(true);
    }

    private static void type(Page page, String text) {
        page.keyboard().press("Control+a");
        page.keyboard().type(text);
    }
}
