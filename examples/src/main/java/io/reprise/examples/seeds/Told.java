// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import io.reprise.Reprise;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.retry.Decision;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The end of a job, and its delays.
 *
 * @param delays before each retry that was decided on
 */
record Told(Job job, List<Duration> delays) {

    static Told of(Reprise reprise, JobId id) {
        List<Duration> delays = reprise.attempts(id).stream()
                .map(Attempt::decision)
                .filter(Decision.Retry.class::isInstance)
                .map(decision -> ((Decision.Retry) decision).delay())
                .toList();
        Told told = new Told(reprise.find(id).orElseThrow(), delays);
        say(
                "  job %s (%s): %s%s, %d attempts, delays %s",
                id,
                told.job.type(),
                told.job.state(),
                told.job.failReason() == null ? "" : " " + told.job.failReason(),
                told.job.attempts(),
                delays);
        return told;
    }

    static void say(String format, @Nullable Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
