// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.Queue;
import io.reprise.RepriseBuilder;
import io.reprise.Resource;
import io.reprise.control.BreakerSettings;
import io.reprise.control.BudgetSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Gives the properties to the builder. A value that the builder refuses becomes a problem with the name of the property.
 *
 * @param problems receives one sentence for each wrong value
 */
record BuilderSettings(RepriseBuilder builder, List<String> problems) {

    private static final Duration MOST_AFTER_INTERRUPT = Duration.ofSeconds(10);

    /**
     * Sets everything that properties can set.
     *
     * @param phase time that Spring gives to a phase of the shutdown
     */
    void apply(RepriseProperties properties, Duration phase) {
        worker(properties.worker(), phase);
        RepriseProperties.Keep keep = properties.keep();
        set("reprise.keep.finished", () -> builder.keepFinished(keep.finished()));
        set("reprise.keep.audit", () -> builder.keepAudit(keep.audit()));
        Duration failed = keep.failed();
        if (failed != null) {
            set("reprise.keep.failed", () -> builder.keepFailed(failed));
        }
        PolicySettings policies = new PolicySettings(Map.of(), problems);
        builder.retry(policies.of("reprise.retry", properties.retry()));
        properties
                .resources()
                .forEach((name, set) ->
                        set("reprise.resources." + name, () -> builder.resources(resource(name, set, policies))));
    }

    private void worker(RepriseProperties.Worker worker, Duration phase) {
        Duration grace = worker.stopGrace() == null ? phase.multipliedBy(7).dividedBy(10) : worker.stopGrace();
        Duration interrupted = phase.dividedBy(5);
        set("reprise.worker.concurrency", () -> builder.concurrency(worker.concurrency()));
        set("reprise.worker.lease", () -> builder.lease(worker.lease()));
        set("reprise.worker.poll", () -> builder.poll(worker.poll()));
        set("reprise.worker.stop-grace", () -> builder.stopGrace(grace));
        set(
                "spring.lifecycle.timeout-per-shutdown-phase",
                () -> builder.cancelGrace(
                        interrupted.compareTo(MOST_AFTER_INTERRUPT) < 0 ? interrupted : MOST_AFTER_INTERRUPT));
        set(
                "reprise.worker.queues",
                () -> builder.queues(worker.queues().stream().map(Queue::of).toArray(Queue[]::new)));
        set("reprise.worker.offers", () -> builder.offers(worker.offers().toArray(String[]::new)));
        String name = worker.name();
        if (name != null) {
            set("reprise.worker.name", () -> builder.name(name));
        }
    }

    private static Resource resource(String name, RepriseProperties.ResourceSettings set, PolicySettings policies) {
        Resource resource = Resource.of(name).retry(policies.of("reprise.resources." + name + ".retry", set.retry()));
        if (!set.breaker()) {
            resource = resource.breaker(BreakerSettings.off());
        }
        Double capacity = set.budget().capacity();
        Double floor = set.budget().floor();
        if (capacity != null || floor != null) {
            BudgetSettings budget = BudgetSettings.OF_RESOURCE;
            budget = capacity == null ? budget : budget.capacity(capacity);
            resource = resource.budget(floor == null ? budget : budget.floor(floor));
        }
        return resource;
    }

    private void set(String property, Runnable setting) {
        try {
            setting.run();
        } catch (IllegalArgumentException e) {
            problems.add(property + ": " + e.getMessage());
        }
    }
}
