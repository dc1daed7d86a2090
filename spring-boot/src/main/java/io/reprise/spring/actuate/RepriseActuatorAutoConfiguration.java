// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.actuate;

import io.reprise.Reprise;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Shows Reprise in Spring Boot Actuator, if the application has it. */
@AutoConfiguration(afterName = "io.reprise.spring.RepriseAutoConfiguration")
@ConditionalOnClass(Endpoint.class)
@ConditionalOnBean(Reprise.class)
class RepriseActuatorAutoConfiguration {

    /** The package of health in Spring Boot 4. */
    private static final String BOOT_4_HEALTH = "org.springframework.boot.health.contributor.HealthIndicator";

    private static final String BOOT_3_HEALTH = "org.springframework.boot.actuate.health.HealthIndicator";

    @Bean
    RepriseState repriseState(Reprise reprise) {
        return new RepriseState(reprise);
    }

    /** Health since Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = BOOT_4_HEALTH)
    @ConditionalOnProperty(
            prefix = "management.health.reprise",
            name = "enabled",
            havingValue = "true",
            matchIfMissing = true)
    static class HealthOfBoot4 {
        @Bean
        Boot4Health repriseHealthIndicator(RepriseState state) {
            return new Boot4Health(state);
        }
    }

    /** Health before Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = BOOT_3_HEALTH)
    @ConditionalOnMissingClass(BOOT_4_HEALTH)
    @ConditionalOnProperty(
            prefix = "management.health.reprise",
            name = "enabled",
            havingValue = "true",
            matchIfMissing = true)
    static class HealthOfBoot3 {
        @Bean
        Boot3Health repriseHealthIndicator(RepriseState state) {
            return new Boot3Health(state);
        }
    }

    /** The endpoint and the information. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static class Shown {
        @Bean
        @ConditionalOnAvailableEndpoint
        RepriseEndpoint repriseEndpoint(RepriseState state) {
            return new RepriseEndpoint(state);
        }

        @Bean
        InfoContributor repriseInfo(Reprise reprise) {
            return info -> {
                Map<String, Object> shown = new LinkedHashMap<>();
                String version = Reprise.class.getPackage().getImplementationVersion();
                shown.put("version", version == null ? "unknown" : version);
                shown.put("worker", reprise.isWorking());
                info.withDetail("reprise", shown);
            };
        }
    }
}
