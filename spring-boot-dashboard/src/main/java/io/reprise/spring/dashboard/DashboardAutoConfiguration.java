// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.dashboard;

import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.jackson.JacksonCodec;
import io.reprise.server.MountedApi;
import io.reprise.spring.RepriseConfigurationException;
import io.reprise.store.JobStore;
import java.util.Map;
import java.util.UUID;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

/** Serves the dashboard in the application, if it is switched on. */
@AutoConfiguration(afterName = "io.reprise.spring.RepriseAutoConfiguration")
@ConditionalOnProperty(prefix = "reprise.dashboard", name = "enabled", havingValue = "true")
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnBean(Reprise.class)
@EnableConfigurationProperties(DashboardProperties.class)
class DashboardAutoConfiguration {

    /** Before the mappings of the application, which may take every path. */
    private static final int ORDER = -100;

    private static final String SECURITY = "org.springframework.security.core.context.SecurityContextHolder";

    @Bean(destroyMethod = "close")
    MountedApi repriseDashboardApi(
            Reprise reprise,
            JobStore store,
            ObjectProvider<PayloadCodec> codec,
            DashboardProperties properties,
            Environment environment) {
        return new MountedApi(
                "dashboard-" + UUID.randomUUID(),
                reprise,
                store,
                codec.getIfUnique(() -> new JacksonCodec(JacksonCodec.defaults().build())),
                base(properties, environment));
    }

    @Bean
    SimpleUrlHandlerMapping repriseDashboardMapping(
            MountedApi api, DashboardProperties properties, Environment environment) {
        if (!ClassUtils.isPresent(SECURITY, getClass().getClassLoader())) {
            throw new RepriseConfigurationException("reprise.dashboard.enabled=true needs Spring Security, which says"
                    + " who may look: add spring-boot-starter-security");
        }
        DashboardHandler handler =
                new DashboardHandler(api, new SecurityCallers(properties.authorities()), base(properties, environment));
        String path = path(properties);
        return new SimpleUrlHandlerMapping(Map.of(path, handler, path + "/**", handler), ORDER);
    }

    private static String path(DashboardProperties properties) {
        String path = properties.path();
        if (!path.matches("(/[A-Za-z0-9._~-]+)+")) {
            throw new RepriseConfigurationException(
                    "reprise.dashboard.path must be like /reprise or /admin/jobs, not '" + path + "'");
        }
        return path;
    }

    private static String base(DashboardProperties properties, Environment environment) {
        return part(environment, "server.servlet.context-path")
                + part(environment, "spring.mvc.servlet.path")
                + path(properties);
    }

    private static String part(Environment environment, String property) {
        String path = environment.getProperty(property, "");
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }
}
