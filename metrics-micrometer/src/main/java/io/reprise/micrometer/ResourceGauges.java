// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.reprise.control.BreakerPhase;
import io.reprise.insight.ResourceStatus;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Shows the phase of the breaker, the credit of the budget and the number of parked jobs of each resource. */
final class ResourceGauges {

    private final GaugeRows state;
    private final GaugeRows budget;
    private final GaugeRows parked;

    ResourceGauges(MeterRegistry registry) {
        this.state = new GaugeRows(registry, "reprise.breaker.state", "0 closed, 1 ramping, 2 half open, 3 open");
        this.budget = new GaugeRows(registry, "reprise.budget.level", "Credits left for retries");
        this.parked = new GaugeRows(registry, "reprise.parked", "Jobs that wait for a breaker or a budget");
    }

    void show(List<ResourceStatus> statuses) {
        show(state, statuses, status -> level(status.phase()));
        show(budget, statuses, status -> status.budget().level());
        show(parked, statuses, ResourceStatus::parked);
    }

    private static void show(GaugeRows gauge, List<ResourceStatus> statuses, ToDoubleFunction<ResourceStatus> what) {
        Map<Tags, Double> values = new HashMap<>();
        statuses.forEach(status -> values.put(Tags.of("resource", status.name()), what.applyAsDouble(status)));
        gauge.show(values);
    }

    private static double level(BreakerPhase phase) {
        return switch (phase) {
            case CLOSED -> 0;
            case RAMPING -> 1;
            case HALF_OPEN -> 2;
            case OPEN -> 3;
        };
    }
}
