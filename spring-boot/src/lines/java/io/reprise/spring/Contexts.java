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

    /** Takes longer to start than everything else. */
    static final String JPA = "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration,"
            + "org.springframework.boot.autoconfigure.data.jpa.JpaRepositoriesAutoConfiguration,"
            + "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
            + "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration,"
            + "org.springframework.boot.autoconfigure.jooq.JooqAutoConfiguration,"
            + "org.springframework.boot.jooq.autoconfigure.JooqAutoConfiguration,";

    private static final String JDBC = "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration,"
            + "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration,";

    static final String MONGODB = "org.springframework.boot.autoconfigure.mongo.MongoAutoConfiguration,"
            + "org.springframework.boot.autoconfigure.data.mongo.MongoDataAutoConfiguration,"
            + "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration,"
            + "org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration,";

    /** Auto-configuration without a component scan. */
    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Application {}

    private Contexts() {}

    static String freshUrl() {
        return PostgresServer.shared().freshDatabaseUrl();
    }

    static ConfigurableApplicationContext start(String url, Class<?> beans, String... properties) {
        return start(JPA + MONGODB, "spring.datasource.url=" + url, beans, properties);
    }

    static ConfigurableApplicationContext startWithJpa(String url, Class<?> beans, String... properties) {
        return start(MONGODB, "spring.datasource.url=" + url, beans, properties);
    }

    static ConfigurableApplicationContext startOnMongo(Class<?> beans, String... properties) {
        return start(JPA + JDBC, "spring.data.mongodb.auto-index-creation=false", beans, properties);
    }

    static ConfigurableApplicationContext startOnBoth(String url, Class<?> beans, String... properties) {
        return start(JPA, "spring.datasource.url=" + url, beans, properties);
    }

    private static ConfigurableApplicationContext start(
            String without, String property, Class<?> beans, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                // Not the settings of the example, which is on the class path too.
                "spring.config.name=none",
                "spring.autoconfigure.exclude=" + without,
                property,
                "spring.main.banner-mode=off",
                "spring.jmx.enabled=false",
                "logging.level.root=warn"));
        all.addAll(List.of(properties));
        return new SpringApplicationBuilder(Application.class, beans)
                .web(WebApplicationType.NONE)
                .run(all.stream().map(text -> "--" + text).toArray(String[]::new));
    }
}
