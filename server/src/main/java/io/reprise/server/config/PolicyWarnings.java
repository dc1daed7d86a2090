// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import io.reprise.control.BreakerSettings;
import io.reprise.control.ControlLint;
import io.reprise.retry.RetryPlan;
import io.reprise.retry.RetryPlan.Warning;
import io.reprise.retry.RetryPolicy;
import java.util.List;
import java.util.stream.Stream;

/** Warnings about a policy: about the policy itself, and about its use with the default breaker. */
public final class PolicyWarnings {

    private PolicyWarnings() {}

    public static List<Warning> of(RetryPolicy policy, RetryPlan plan) {
        return Stream.concat(
                        plan.warnings().stream(),
                        ControlLint.probes("a resource", BreakerSettings.DEFAULT, List.of(policy)).stream())
                .toList();
    }
}
