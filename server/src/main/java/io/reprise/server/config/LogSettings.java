// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Applies the settings of the log to the running program. */
public final class LogSettings {

    private static final List<String> FORMATS = List.of("text", "json");
    private static final List<String> LEVELS = List.of("DEBUG", "INFO", "WARN", "ERROR");

    private LogSettings() {}

    /** Sets format and level. Does nothing if the log is not Logback's. */
    public static void apply(Settings settings) {
        if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
            return;
        }
        Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        if (settings.isGiven(Setting.LOG_LEVEL)) {
            root.setLevel(Level.toLevel(settings.text(Setting.LOG_LEVEL)));
        }
        if (settings.text(Setting.LOG_FORMAT).equals("json")) {
            root.detachAndStopAllAppenders();
            root.addAppender(json(context));
        }
    }

    static ConsoleAppender<ILoggingEvent> json(LoggerContext context) {
        JsonEncoder encoder = new JsonEncoder();
        encoder.setContext(context);
        encoder.setWithFormattedMessage(true);
        encoder.setWithMessage(false);
        encoder.setWithArguments(false);
        encoder.setWithNanoseconds(false);
        encoder.setWithSequenceNumber(false);
        encoder.setWithContext(false);
        encoder.start();
        ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
        appender.setContext(context);
        appender.setName("JSON");
        appender.setTarget("System.err");
        appender.setEncoder(encoder);
        appender.start();
        return appender;
    }

    /** Refuses an unknown format. */
    public static void requireFormat(String value) {
        require(FORMATS, value);
    }

    /** Refuses an unknown level. */
    public static void requireLevel(String value) {
        require(LEVELS, value);
    }

    private static void require(List<String> allowed, String value) {
        if (!allowed.contains(value)) {
            throw new IllegalArgumentException(
                    "must be one of " + String.join(", ", allowed) + ", not '" + value + "'");
        }
    }
}
