// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.read.ListAppender;
import io.reprise.server.http.Json;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.MDC;
import tools.jackson.databind.JsonNode;

class LogSettingsTest {

    @Test
    void a_line_of_json_has_message_level_key_values_and_the_trace() {
        LoggerContext context = new LoggerContext();
        context.setMDCAdapter(MDC.getMDCAdapter());
        ConsoleAppender<ILoggingEvent> json = LogSettings.json(context);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        ch.qos.logback.classic.Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.addAppender(lines);
        String text;
        try (MDC.MDCCloseable trace = MDC.putCloseable("trace_id", "0af7651916cd43dd")) {
            context.getLogger("io.reprise")
                    .atWarn()
                    .addKeyValue("job", "17")
                    .addKeyValue("attempt", 4)
                    .log("Task failed permanently: {}", 17);
            text = new String(json.getEncoder().encode(lines.list.get(0)), StandardCharsets.UTF_8);
        }
        assertThat(text).endsWith("\n");
        JsonNode line = Json.parse(text);
        assertThat(line.get("level").stringValue()).isEqualTo("WARN");
        assertThat(line.get("formattedMessage").stringValue()).isEqualTo("Task failed permanently: 17");
        assertThat(line.get("kvpList").toString()).contains("\"job\":\"17\"").contains("\"attempt\":\"4\"");
        assertThat(line.get("mdc").get("trace_id").stringValue()).isEqualTo("0af7651916cd43dd");
        json.stop();
    }

    @Test
    void an_unknown_format_or_level_is_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LogSettings.requireFormat("xml"))
                .withMessage("must be one of text, json, not 'xml'");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LogSettings.requireLevel("LOUD"))
                .withMessageContaining("DEBUG, INFO, WARN, ERROR");
    }
}
