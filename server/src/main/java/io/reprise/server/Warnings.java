// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.retry.RetryPlan;
import io.reprise.server.config.Durations;
import java.time.Duration;
import java.util.regex.Pattern;

/** Warnings about a policy as people read them. */
final class Warnings {

    private static final Pattern ISO = Pattern.compile("\\bPT[0-9HMS.]*[HMS]\\b");

    private Warnings() {}

    static String text(RetryPlan.Warning warning) {
        return "warning: " + inShort(warning.message()) + " [" + warning.code() + "]";
    }

    /** ISO-8601 durations in the way everything else on the screen is written. */
    private static String inShort(String message) {
        return ISO.matcher(message).replaceAll(found -> Durations.text(Duration.parse(found.group())));
    }
}
