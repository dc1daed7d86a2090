// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.seeds;

import io.reprise.Reprise;
import io.reprise.job.Attempt;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.retry.Decision;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
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
                "  job %s (%s): %s%s, %s%s",
                id,
                told.job.type(),
                told.job.state(),
                told.job.failReason() == null ? "" : " " + told.job.failReason(),
                told.job.attempts() == 1 ? "1 attempt" : told.job.attempts() + " attempts",
                delays.isEmpty() ? "" : ", delays " + seconds(delays));
        return told;
    }

    /** The delays of the first retries under a policy, before jitter. */
    static String raw(RetryPolicy policy, int retries) {
        return seconds(RetryPlan.of(policy, retries).steps().stream()
                .map(RetryPlan.Step::raw)
                .toList());
    }

    /** The shortest and the longest delay of the first retry under a policy. */
    static String range(RetryPolicy policy) {
        RetryPlan.Step first = RetryPlan.of(policy, 1).steps().get(0);
        return seconds(List.of(first.min(), first.max()));
    }

    private static String seconds(List<Duration> delays) {
        return delays.stream()
                .map(delay -> String.format(Locale.ROOT, "%.3f", delay.toMillis() / 1e3))
                .map(text -> text.replaceFirst("\\.?0+$", ""))
                .collect(Collectors.joining(", ", "", " s"));
    }

    static void say(String format, @Nullable Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
