// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/**
 * Fails every test in which a server of this process answered other than it declares. It does not matter who sent the
 * request, nor what the test looked at. JUnit registers it for all tests of the module.
 */
public final class UndeclaredAnswers implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    private static final Queue<String> FOUND = new ConcurrentLinkedQueue<>();

    private static final AppenderBase<ILoggingEvent> APPENDER = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            IThrowableProxy thrown = event.getThrowableProxy();
            if (thrown != null && thrown.getClassName().equals(AssertionError.class.getName())) {
                FOUND.add(thrown.getMessage());
            }
        }
    };

    @Override
    public void beforeAll(ExtensionContext context) {
        // Commands under test may set up logging again, which removes appenders.
        Logger server = (Logger) LoggerFactory.getLogger("io.reprise.server");
        if (!server.isAttached(APPENDER)) {
            APPENDER.setContext(server.getLoggerContext());
            APPENDER.start();
            server.addAppender(APPENDER);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        failIfAny();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        failIfAny();
    }

    private static void failIfAny() {
        List<String> found = new ArrayList<>(take());
        if (!found.isEmpty()) {
            throw new AssertionError("answers are not as declared: " + String.join("\n", found));
        }
    }

    /** Takes what was found so far. */
    static List<String> take() {
        List<String> found = new ArrayList<>();
        for (String each = FOUND.poll(); each != null; each = FOUND.poll()) {
            found.add(each);
        }
        return found;
    }
}
