// SPDX-License-Identifier: Apache-2.0
package io.reprise.control;

import io.reprise.retry.RetryPlan.Warning;
import io.reprise.retry.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Finds settings that are legal, but with which a resource cannot recover. The codes of the warnings are stable.
 *
 * @since 0.1.0
 */
public final class ControlLint {

    /** A budget that only its floor fills should grant at least one retry in this time. */
    private static final Duration LONGEST_PER_RETRY = Duration.ofMinutes(1);

    private ControlLint() {}

    /**
     * Checks the settings of a resource, or the settings that all other resources share.
     *
     * @param name name of the resource, or a word for all of them; used in the messages
     * @param policies retry policies that jobs of the resource may have
     * @return the warnings of {@link #probes} and {@link #budget}; empty if there are none
     */
    public static List<Warning> of(
            String name, BreakerSettings breaker, BudgetSettings budget, Collection<RetryPolicy> policies) {
        List<Warning> warnings = new ArrayList<>();
        probes(name, breaker, policies).ifPresent(warnings::add);
        budget(name, budget).ifPresent(warnings::add);
        return warnings;
    }

    /**
     * Warns with code {@code deadline-before-probe} if every job reaches its deadline before the next probe of an open
     * breaker.
     *
     * @param name name of the resource, used in the message
     * @param policies retry policies that jobs of the resource may have
     */
    public static Optional<Warning> probes(String name, BreakerSettings breaker, Collection<RetryPolicy> policies) {
        Duration rarest = breaker.longestProbe().dividedBy(breaker.probes());
        boolean endless = policies.stream()
                .anyMatch(policy -> policy.complete().deadline().isNone());
        return policies.stream()
                .flatMap(policy -> policy.complete().deadline().toOptional().stream())
                .max(Comparator.naturalOrder())
                .filter(longest -> breaker.enabled() && !endless && longest.compareTo(rarest) < 0)
                .map(longest -> new Warning(
                        "deadline-before-probe",
                        "While the breaker of " + name + " is open, up to " + text(rarest) + " pass between two probes,"
                                + " but no job lives longer than its deadline of " + text(longest)
                                + ": in a long outage all jobs expire unseen. Set a longer deadline, or a shorter"
                                + " longestProbe."));
    }

    /**
     * Warns with code {@code no-deadline} if a policy limits the attempts at a resource with a breaker but has no
     * deadline. Probes of the breaker spend no attempt, so the handler may be called twice as often as the limit says,
     * and nothing bounds how long.
     *
     * @param name name of the resource, used in the message
     * @param policy the retry policy of the resource
     */
    public static Optional<Warning> deadline(String name, BreakerSettings breaker, RetryPolicy policy) {
        return policy.complete()
                .maxAttempts()
                .toOptional()
                .filter(most -> breaker.enabled()
                        && most > 1
                        && policy.complete().deadline().isNone())
                .map(most -> new Warning(
                        "no-deadline",
                        "Jobs of " + name + " have " + most
                                + " attempts and no deadline. Probes of its breaker spend no"
                                + " attempt: in an outage a job may be called " + 2L * most
                                + " times, and nothing says until when. Set a deadline."));
    }

    /**
     * Warns with code {@code budget-without-floor} if an empty budget grants less than one retry a minute.
     *
     * @param name name of the resource or queue, used in the message
     */
    public static Optional<Warning> budget(String name, BudgetSettings budget) {
        double perMinute = budget.floor() * LONGEST_PER_RETRY.toSeconds();
        return budget.enabled() && perMinute < 1
                ? Optional.of(
                        new Warning(
                                "budget-without-floor",
                                "When the retry budget of " + name
                                        + " is spent and nothing else succeeds, one retry goes every "
                                        + text(Duration.ofMillis((long) (1_000 / budget.floor())))
                                        + ": parked retries hardly ever run. Set a floor of at least one retry a minute (0.017)."))
                : Optional.empty();
    }

    /**
     * Warns with code {@code rate-below-lease} if a rate limit lets less than one job start per lease. Then a backlog
     * hardly shrinks, and a job that was lost with its worker waits longer for its turn than for its lease.
     *
     * @param name what the limit is of, used in the message
     * @param spacing time between two starts at the full rate
     * @param lease lease of the worker's jobs
     */
    public static Optional<Warning> rate(String name, Duration spacing, Duration lease) {
        return spacing.compareTo(lease) > 0
                ? Optional.of(new Warning(
                        "rate-below-lease",
                        "The rate limit of " + name + " lets one job start every " + text(spacing)
                                + ", less than one per lease of " + text(lease)
                                + ": after trouble the backlog hardly shrinks. Set a higher rate, or limit"
                                + " the jobs that run at once."))
                : Optional.empty();
    }

    private static String text(Duration length) {
        return length.toMinutes() < 2 ? length.toMillis() / 1e3 + " s" : length.toMinutes() + " min";
    }
}
