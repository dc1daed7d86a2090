// SPDX-License-Identifier: Apache-2.0
package io.reprise.spring;

import io.reprise.testkit.servers.PostgresServer;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts applications as a user's main does, each on a fresh PostgreSQL database. */
final class Contexts {

    /** Auto-configuration without a component scan. */
    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}

    private Contexts() {}

    static String freshUrl() {
        return PostgresServer.shared().freshDatabaseUrl();
    }

    /** Without JPA, which takes longer to start than everything else. */
    static ConfigurableApplicationContext start(String url, Class<?> beans, String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add(
                "spring.autoconfigure.exclude=org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration,"
                        + "org.springframework.boot.autoconfigure.data.jpa.JpaRepositoriesAutoConfiguration,"
                        + "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
                        + "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration,"
                        + "org.springframework.boot.autoconfigure.jooq.JooqAutoConfiguration,"
                        + "org.springframework.boot.jooq.autoconfigure.JooqAutoConfiguration");
        return startWithJpa(url, beans, all.toArray(String[]::new));
    }

    static ConfigurableApplicationContext startWithJpa(String url, Class<?> beans, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                // Not the settings of the example, which is on the class path too.
                "spring.config.name=none",
                "spring.datasource.url=" + url,
                "spring.main.banner-mode=off",
                "spring.jmx.enabled=false",
                "logging.level.root=warn"));
        all.addAll(List.of(properties));
        return new SpringApplicationBuilder(Application.class, beans)
                .web(WebApplicationType.NONE)
                .run(all.stream().map(property -> "--" + property).toArray(String[]::new));
    }
}
