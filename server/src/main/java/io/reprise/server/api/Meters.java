// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.reprise.JobListener;
import io.reprise.Reprise;
import io.reprise.micrometer.JobMetrics;
import java.util.function.Supplier;

/** The metrics of the server. Thread-safe. */
public final class Meters implements AutoCloseable {

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JobMetrics jobs = new JobMetrics(registry);

    /** Returns the listener for the engine. */
    public JobListener listener() {
        return jobs;
    }

    /** Adds metrics that the whole fleet shares. */
    public void watch(Reprise reprise) {
        jobs.resources(reprise::resources)
                .queues(reprise::queues, reprise::workers)
                .upkeep(reprise::upkeep);
        jobs.groups(reprise::topGroups).starts(() -> reprise.startLevels(2));
    }

    /** Registers a counter that another object maintains. */
    public void count(String name, String about, Supplier<Number> count) {
        FunctionCounter.builder(name, count, each -> each.get().doubleValue())
                .description(about)
                .register(registry);
    }

    /** Returns the metrics in the format of Prometheus. */
    public String text() {
        jobs.refresh();
        return registry.scrape();
    }

    @Override
    public void close() {
        registry.close();
    }
}
