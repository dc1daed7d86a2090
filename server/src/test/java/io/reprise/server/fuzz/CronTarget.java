// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.fuzz;

import io.reprise.internal.upkeep.ScheduleRule;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Rules of schedules: read or refused, and the next firing lies ahead. */
public final class CronTarget {

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private CronTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        ScheduleRule rule;
        try {
            rule = ScheduleRule.parse("nightly", new String(input, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            return;
        }
        if (!rule.next(NOW, NOW).isAfter(NOW) || rule.first(NOW).isBefore(NOW)) {
            throw new IllegalStateException("fires in the past");
        }
    }
}
