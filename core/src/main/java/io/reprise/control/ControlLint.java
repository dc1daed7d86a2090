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

/** Finds settings that are legal, but with which a resource cannot recover. Codes are stable. */
public final class ControlLint {

    /** A budget that only the floor fills lets at least one retry go in this time. */
    private static final Duration LONGEST_PER_RETRY = Duration.ofMinutes(1);

    private ControlLint() {}

    /**
     * Looks at a resource, or at the settings that all others share.
     *
     * @param name of the resource, or a word for all of them
     * @param policies those that jobs of the resource may have
     */
    public static List<Warning> of(
            String name, BreakerSettings breaker, BudgetSettings budget, Collection<RetryPolicy> policies) {
        List<Warning> warnings = new ArrayList<>();
        probes(name, breaker, policies).ifPresent(warnings::add);
        budget(name, budget).ifPresent(warnings::add);
        return warnings;
    }

    /** Whether jobs of this policy can live to see the next probe of a breaker with these settings. */
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

    /** Whether a budget that was spent lets retries go on. */
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

    private static String text(Duration length) {
        return length.toMinutes() < 2 ? length.toMillis() / 1e3 + " s" : length.toMinutes() + " min";
    }
}
