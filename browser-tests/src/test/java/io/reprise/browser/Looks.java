// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Rules that hold for every screen, in each width and colour; and pictures of it with {@code -Dscreenshots}. With
 * {@code -Dscreenshots=all} each is also drawn whole, in every width and colour, to target/screens.
 */
final class Looks {

    private static final String AXE = "() => axe.run({resultTypes: ['violations']}).then(r => r.violations.map(v =>"
            + " v.id + ': ' + v.nodes.map(n => n.html.slice(0, 150) + ' ' + n.failureSummary).slice(0, 3).join(' | ')))";

    /** A control without a name in the tree that a screen reader gets. */
    private static final Pattern NAMELESS = Pattern.compile(
            "(?m)^\\s*- (button|link|textbox|searchbox|combobox|checkbox|slider|spinbutton|img)(:| \\[|$).*$");

    /** Screens that are drawn in the dark as well. */
    private static final Set<String> DARK = Set.of("now", "errors", "job-retried", "resource", "simulator");

    /** Screens that are drawn on a small screen as well. */
    private static final Set<String> NARROW = Set.of("now", "errors", "job-retried");

    private static final int WIDE = 1280;
    private static final int SMALL = 320;

    private final Page page;

    Looks(Page page) {
        this.page = page;
        page.evaluate(axe());
    }

    private static String axe() {
        try (InputStream in = Looks.class.getResourceAsStream("/axe.min.js")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Looks at what is open now, wide and narrow, light and dark. */
    @SuppressWarnings("unchecked")
    void at(String name, boolean drawn) {
        for (int width : List.of(WIDE, SMALL)) {
            page.setViewportSize(width, 900);
            for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
                page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(scheme));
                String about = name + " " + width + " " + scheme;
                // Before axe, which holds the page up for so long that what it shows is old.
                draw(name, width, scheme, drawn);
                assertThat((List<String>) page.evaluate(AXE)).as(about).isEmpty();
                assertThat(page.evaluate("() => document.documentElement.scrollWidth - innerWidth"))
                        .as(about + " sticks out")
                        .isEqualTo(0);
            }
        }
        assertThat(NAMELESS.matcher(page.locator("body").ariaSnapshot())
                        .results()
                        .map(found -> found.group().trim())
                        .toList())
                .as(name + ": controls without a name")
                .isEmpty();
        page.setViewportSize(WIDE, 900);
        page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(ColorScheme.LIGHT));
    }

    private void draw(String name, int width, ColorScheme scheme, boolean drawn) {
        String asked = System.getProperty("screenshots");
        if (asked == null) {
            return;
        }
        page.waitForFunction("() => /now$/.test(document.querySelector('.live').textContent)");
        boolean light = scheme == ColorScheme.LIGHT;
        String file = name + (width == WIDE ? "" : "-narrow") + (light ? "" : "-dark") + ".png";
        if (asked.equals("all")) {
            page.screenshot(new Page.ScreenshotOptions()
                    .setPath(Path.of("target", "screens", file))
                    .setFullPage(true));
        }
        if (drawn && (width == WIDE || NARROW.contains(name)) && (light || DARK.contains(name))) {
            page.screenshot(new Page.ScreenshotOptions().setPath(Path.of("..", "docs", "dashboard", file)));
        }
    }
}
