// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.reprise.JobListener;
import io.reprise.Reprise;
import io.reprise.micrometer.JobMetrics;

/** What the server measures. Thread-safe. */
final class Meters implements AutoCloseable {

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JobMetrics jobs = new JobMetrics(registry);

    /** For the engine. */
    JobListener listener() {
        return jobs;
    }

    /** Also shows what the whole fleet shares. */
    void watch(Reprise reprise) {
        jobs.resources(reprise::resources).queues(reprise::queues);
    }

    /** As Prometheus reads it. */
    String text() {
        jobs.refresh();
        return registry.scrape();
    }

    @Override
    public void close() {
        registry.close();
    }
}
