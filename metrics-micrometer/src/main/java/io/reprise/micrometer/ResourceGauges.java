// SPDX-License-Identifier: Apache-2.0
package io.reprise.micrometer;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.reprise.ResourceStatus;
import io.reprise.control.Breaker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Breakers and budgets of resources. Whoever collects the meters also has the state read anew, at most every 10 s, in the
 * thread that collects: so nothing is read that nobody looks at, and no worker waits for it.
 */
final class ResourceGauges {

    private static final Logger log = LoggerFactory.getLogger(ResourceGauges.class);
    private static final Duration FRESH = Duration.ofSeconds(10);

    private final Supplier<? extends Collection<ResourceStatus>> source;
    private final Clock clock;
    private final MultiGauge state;
    private final MultiGauge budget;
    private final MultiGauge parked;
    private long nextReadNanos;
    private int resources;

    ResourceGauges(MeterRegistry registry, Supplier<? extends Collection<ResourceStatus>> source) {
        this.source = source;
        this.clock = registry.config().clock();
        this.nextReadNanos = clock.monotonicTime();
        this.state = MultiGauge.builder("reprise.breaker.state")
                .description("0 closed, 1 ramping, 2 half open, 3 open")
                .register(registry);
        this.budget = MultiGauge.builder("reprise.budget.level")
                .description("Tokens left for retries")
                .register(registry);
        this.parked = MultiGauge.builder("reprise.parked")
                .description("Jobs that wait for a breaker or a budget")
                .register(registry);
        Gauge.builder("reprise.resources", this, ResourceGauges::read)
                .description("Resources whose breaker or budget is not as new")
                // Nothing else refers to this object.
                .strongReference(true)
                .register(registry);
        read();
    }

    private synchronized double read() {
        if (clock.monotonicTime() - nextReadNanos >= 0) {
            nextReadNanos = clock.monotonicTime() + FRESH.toNanos();
            try {
                List<ResourceStatus> all = List.copyOf(source.get());
                resources = all.size();
                List<ResourceStatus> shown = all.stream().limit(Labels.MAX).toList();
                show(state, shown, status -> level(status.phase()));
                show(budget, shown, ResourceStatus::budget);
                show(parked, shown, ResourceStatus::parked);
            } catch (RuntimeException e) {
                log.warn("The state of resources could not be read; the meters show what was: {}", e.getMessage());
            }
        }
        return resources;
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
