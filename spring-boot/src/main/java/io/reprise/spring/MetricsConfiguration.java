// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.reprise.Reprise;
import io.reprise.micrometer.JobMetrics;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Meters in the registry of the application. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({MeterRegistry.class, JobMetrics.class})
@ConditionalOnBean(type = "io.micrometer.core.instrument.MeterRegistry")
@ConditionalOnProperty(prefix = "reprise.metrics", name = "enabled", havingValue = "true", matchIfMissing = true)
class MetricsConfiguration {

    @Bean
    @ConditionalOnMissingBean
    JobMetrics repriseJobMetrics(MeterRegistry registry) {
        return new JobMetrics(registry);
    }

    /** The gauges need the Reprise that has the listener. */
    @Bean
    SmartInitializingSingleton repriseGauges(JobMetrics metrics, ObjectProvider<Reprise> reprise) {
        return () -> {
            Reprise known = reprise.getObject();
            metrics.resources(known::resources)
                    .queues(known::queues, known::workers)
                    .upkeep(known::upkeep);
            metrics.groups(known::topGroups).starts(() -> known.startLevels(2));
        };
    }
}
