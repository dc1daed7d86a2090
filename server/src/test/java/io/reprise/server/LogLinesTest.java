// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The log of the program, which holds text that clients and receivers wrote. */
class LogLinesTest {

    private static final Pattern PATTERN = Pattern.compile("<pattern>(.*)</pattern>");
    private static final String FORGED = "2026-01-01T00:00:00.000Z ERROR server - all is lost";

    private static List<String> lines(String message, @Nullable Throwable thrown) throws IOException {
        Matcher pattern =
                PATTERN.matcher(Files.readString(Path.of("src/main/resources/io/reprise/server/config/log.xml")));
        assertThat(pattern.find()).isTrue();
        LoggerContext context = new LoggerContext();
        PatternLayout layout = new PatternLayout();
        layout.setContext(context);
        layout.setPattern(pattern.group(1));
        layout.start();
        LoggingEvent event =
                new LoggingEvent("", context.getLogger("server"), Level.WARN, message, thrown, new Object[0]);
        return layout.doLayout(event).lines().toList();
    }

    @Test
    void no_text_of_others_looks_like_a_line_of_the_log() throws IOException {
        for (String end : List.of("\n", "\r\n", "\r")) {
            String text = "broken" + end + FORGED;
            List<String> lines = lines(text, new IllegalStateException(text, new IOException(text)));
            assertThat(lines).hasSizeGreaterThan(3).noneMatch(line -> line.startsWith("2026-01-01"));
            assertThat(lines.get(0)).contains(" WARN ", "broken " + FORGED);
            assertThat(lines.subList(1, lines.size())).allMatch(line -> line.startsWith("  | "));
        }
        assertThat(lines("quiet", null)).hasSize(1);
    }
}
