// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring.dashboard;

import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the dashboard in a Spring application.
 *
 * @param enabled whether the dashboard is served
 * @param path path of the dashboard in the application
 * @param authorities authorities of Spring Security that may use the dashboard
 * @since 0.1.0
 */
@ConfigurationProperties("reprise.dashboard")
public record DashboardProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("/reprise") String path,
        @DefaultValue Authorities authorities) {

    /**
     * The authorities that give each scope. One of the list is enough.
     *
     * @param read authorities that may look
     * @param operate authorities that may look, retry, cancel, replay and pause
     * @param admin authorities that may do everything
     */
    public record Authorities(
            @DefaultValue("REPRISE_READ") List<String> read,
            @DefaultValue("REPRISE_OPERATE") List<String> operate,
            @DefaultValue("REPRISE_ADMIN") List<String> admin) {}
}
