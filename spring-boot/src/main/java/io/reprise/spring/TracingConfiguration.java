// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.opentelemetry.api.OpenTelemetry;
import io.reprise.opentelemetry.JobTracing;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Spans with the OpenTelemetry of the application. The bean is interceptor and listener. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({OpenTelemetry.class, JobTracing.class})
@ConditionalOnBean(type = "io.opentelemetry.api.OpenTelemetry")
@ConditionalOnProperty(prefix = "reprise.tracing", name = "enabled", havingValue = "true", matchIfMissing = true)
class TracingConfiguration {

    @Bean
    @ConditionalOnMissingBean
    JobTracing repriseJobTracing(OpenTelemetry telemetry) {
        return new JobTracing(telemetry);
    }
}
