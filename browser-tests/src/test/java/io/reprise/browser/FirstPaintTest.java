// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.WaitUntilState;
import io.reprise.dashboard.WebFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a browser that has nothing of the page yet must fetch before it paints, and before it shows data. The numbers of
 * requests and bytes are held; the times are only printed, because they say more of the machine.
 */
class FirstPaintTest {

    private static final int TIMES = Integer.getInteger("paint.times", 1);

    /** The page, its style, the modules of the frame and of the first screen, the icon. */
    private static final int FILES = 11;

    /** Bytes of these files as they are sent. */
    private static final int BYTES = 45_000;

    /** The modules of the frame and of the first screen. */
    private static final int MODULES = 8;

    /** Session, pulse, series and errors. */
    private static final int QUESTIONS = 4;

    private static final String PAINT =
            "() => performance.getEntriesByName('first-contentful-paint').map(e => e.startTime)[0] || 0";

    private static final String BLOCKING = "() => performance.getEntriesByType('resource')"
            + ".filter(e => e.renderBlockingStatus === 'blocking').map(e => e.name.replace(/.*\\//, ''))";

    @TempDir
    Path folder;

    @Test
    void the_first_screen_needs_few_files_and_asks_for_its_data_at_once() {
        try (World world = World.troubled(folder, Kind.SQLITE)) {
            List<Double> paints = new ArrayList<>();
            List<Double> data = new ArrayList<>();
            for (int i = 0; i < TIMES; i++) {
                Page page = world.login(world.admin);
                // As one who comes back the next day: logged in, and without a file of a new version.
                page.context().newCDPSession(page).send("Network.clearBrowserCache");
                page.navigate("about:blank");
                // From here on: the screen after the login may still have asked for its data a moment ago.
                List<Request> requests = new ArrayList<>();
                page.onRequest(requests::add);
                page.navigate(world.server.url() + "/");
                page.locator("main .tiles").waitFor();
                data.add(((Number) page.evaluate("() => performance.now()")).doubleValue());
                page.waitForFunction("() => performance.getEntriesByName('first-contentful-paint').length");
                paints.add(((Number) page.evaluate(PAINT)).doubleValue());
                count(world, requests);
                page.context().close();
            }
            paints.sort(null);
            data.sort(null);
            say("first paint: %.0f ms median, %.0f ms at most", paints.get(TIMES / 2), paints.get(TIMES - 1));
            say("first data: %.0f ms median, %.0f ms at most, of %d", data.get(TIMES / 2), data.get(TIMES - 1), TIMES);
        }
    }

    /**
     * Everything of one round is held back until all of it was asked for. So the test ends only if nothing of a round
     * waits for something else of it: the paint comes after page and style, the data after two more rounds.
     */
    @Test
    void the_first_paint_waits_for_page_and_style_only_and_the_data_for_two_more_rounds() {
        try (World world = World.troubled(folder, Kind.SQLITE)) {
            Page page = world.login(world.admin);
            page.navigate("about:blank");
            List<Route> modules = new ArrayList<>();
            List<Route> questions = new ArrayList<>();
            page.route("**/ui/*.js", modules::add);
            page.route("**/v1/**", questions::add);
            page.navigate(world.server.url() + "/", new Page.NavigateOptions().setWaitUntil(WaitUntilState.COMMIT));
            page.waitForFunction("() => performance.getEntriesByName('first-contentful-paint').length");
            assertThat(page.evaluate(BLOCKING)).asString().matches("\\[app-[0-9a-f]+\\.css]");
            page.waitForCondition(() -> modules.size() == MODULES);
            assertThat(questions).isEmpty();
            modules.forEach(Route::resume);
            page.waitForCondition(() -> questions.size() == QUESTIONS);
            assertThat(modules).hasSize(MODULES);
            questions.forEach(Route::resume);
            page.locator("main .tiles").waitFor();
        }
    }

    private static void count(World world, List<Request> requests) {
        List<String> paths = requests.stream()
                .map(Request::url)
                .filter(url -> url.startsWith(world.server.url()))
                .map(url -> url.substring(world.server.url().length()))
                .toList();
        List<String> files =
                paths.stream().filter(path -> !path.startsWith("/v1/")).toList();
        List<String> questions =
                paths.stream().filter(path -> path.startsWith("/v1/")).toList();
        WebFiles web = new WebFiles("", "/ui/");
        int bytes = web.page().length()
                + web.files().entrySet().stream()
                        .filter(file -> files.stream().anyMatch(path -> path.endsWith("/" + file.getKey())))
                        .mapToInt(file -> file.getValue().zipped().length)
                        .sum();
        say("%d files of %,d bytes, then at once %s", files.size(), bytes, questions);
        assertThat(files).hasSizeLessThanOrEqualTo(FILES).doesNotHaveDuplicates();
        assertThat(bytes).isLessThanOrEqualTo(BYTES);
        assertThat(questions).hasSizeGreaterThanOrEqualTo(QUESTIONS);
        // The second question does not wait for the answer to the first.
        assertThat(questions.subList(0, QUESTIONS))
                .containsExactlyInAnyOrder("/v1/session", "/v1/pulse", "/v1/series?periods=60", "/v1/errors");
    }

    @SuppressWarnings("SystemOut")
    private static void say(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
