// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.actuate;

import java.util.List;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/** The health of Reprise for Spring Boot 4. */
final class Boot4Health extends AbstractHealthIndicator {

    private final RepriseState state;

    Boot4Health(RepriseState state) {
        super("Reprise cannot read its store");
        this.state = state;
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        List<String> stuck = state.stuckParts();
        builder.up().withDetails(state.summary());
        if (!stuck.isEmpty()) {
            builder.down().withDetail("stuck", stuck);
        }
    }
}
