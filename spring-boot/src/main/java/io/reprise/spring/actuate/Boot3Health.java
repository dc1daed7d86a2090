// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.actuate;

import java.util.List;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;

/** The health of Reprise for Spring Boot 3. */
final class Boot3Health extends AbstractHealthIndicator {

    private final RepriseState state;

    Boot3Health(RepriseState state) {
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
