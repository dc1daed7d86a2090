// SPDX-License-Identifier: Apache-2.0
package io.reprise.browser;

import static org.junit.jupiter.api.Assumptions.abort;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The browser of the system. Nothing is downloaded. Without a browser the tests are skipped, and say so loudly. */
final class Chromium implements AutoCloseable {

    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");

    private final Playwright playwright;
    final Browser browser;

    private Chromium(Path program) {
        // The five seconds that are usual are a bet on an idle machine.
        PlaywrightAssertions.setDefaultAssertionTimeout(60_000);
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        browser = playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(program)
                        .setArgs(List.of("--no-sandbox", "--disable-dev-shm-usage")));
    }

    static Chromium start() {
        return find().map(Chromium::new).orElseGet(() -> {
            String text = "NO BROWSER: the dashboard was not tested. Set CHROMIUM, or install chromium.";
            System.err.println(text);
            return abort(text);
        });
    }

    private static Optional<Path> find() {
        String named = System.getenv("CHROMIUM");
        Stream<Path> path = Arrays.stream(
                        System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)));
        return Stream.concat(named == null ? Stream.empty() : Stream.of(Path.of(named)), path)
                .filter(Files::isExecutable)
                .findFirst();
    }

    @Override
    public void close() {
        browser.close();
        playwright.close();
    }
}
