// SPDX-License-Identifier: Apache-2.0
package io.reprise.cli.base;

import io.reprise.retry.RetryPlan;
import io.reprise.server.config.Durations;
import java.time.Duration;
import java.util.regex.Pattern;

/** Shows warnings about a policy as text for people. */
public final class Warnings {

    private static final Pattern ISO = Pattern.compile("\\bPT[0-9HMS.]*[HMS]\\b");

    private Warnings() {}

    public static String text(RetryPlan.Warning warning) {
        return "warning: " + inShort(warning.message()) + " [" + warning.code() + "]";
    }

    /** Writes ISO-8601 durations as all other durations on the screen. */
    private static String inShort(String message) {
        return ISO.matcher(message).replaceAll(found -> Durations.text(Duration.parse(found.group())));
    }
}
