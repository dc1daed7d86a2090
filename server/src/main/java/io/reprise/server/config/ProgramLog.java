// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.core.joran.spi.JoranException;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.net.URL;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sets the log of the program up. It is no logback.xml, because an application that has these classes for its dashboard
 * would then log by our rules. A file that the class path or the property names takes precedence.
 */
public final class ProgramLog extends ContextAwareBase implements Configurator {

    private static final String NAMED = "logback.configurationFile";

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        URL ours = ProgramLog.class.getResource("log.xml");
        if (ours == null
                || System.getProperty(NAMED) != null
                || Stream.of("logback-test.xml", "logback.xml").anyMatch(name -> ofClassPath(name) != null)) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        try {
            configurator.doConfigure(ours);
            return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
        } catch (JoranException e) {
            addError("The log of the program cannot be set up", e);
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
    }

    private static @Nullable URL ofClassPath(String name) {
        return ProgramLog.class.getResource("/" + name);
    }
}
