// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.reprise.ResourceStatus;
import io.reprise.control.Breaker;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Breakers and budgets of resources. */
final class ResourceGauges {

    private final MultiGauge state;
    private final MultiGauge budget;
    private final MultiGauge parked;

    ResourceGauges(MeterRegistry registry) {
        this.state = MultiGauge.builder("reprise.breaker.state")
                .description("0 closed, 1 ramping, 2 half open, 3 open")
                .register(registry);
        this.budget = MultiGauge.builder("reprise.budget.level")
                .description("Tokens left for retries")
                .register(registry);
        this.parked = MultiGauge.builder("reprise.parked")
                .description("Jobs that wait for a breaker or a budget")
                .register(registry);
    }

    void show(List<ResourceStatus> statuses) {
        show(state, statuses, status -> level(status.phase()));
        show(budget, statuses, ResourceStatus::budget);
        show(parked, statuses, ResourceStatus::parked);
    }

    private static void show(MultiGauge gauge, List<ResourceStatus> statuses, ToDoubleFunction<ResourceStatus> what) {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        statuses.forEach(
                status -> rows.add(MultiGauge.Row.of(Tags.of("resource", status.name()), what.applyAsDouble(status))));
        gauge.register(rows, true);
    }

    private static double level(Breaker.Phase phase) {
        return switch (phase) {
            case CLOSED -> 0;
            case RAMPING -> 1;
            case HALF_OPEN -> 2;
            case OPEN -> 3;
        };
    }
}
