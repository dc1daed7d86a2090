// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.frameworks;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.jdbc.JdbcJobStore;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.Shutdown;
import jakarta.enterprise.event.Startup;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Reprise as a CDI bean, for Quarkus and other containers with CDI 4. */
// snippet:producer
@ApplicationScoped
public class QuarkusJobs {

    public static final JobType<String> GREET = JobType.of("greet", String.class);

    private @Nullable RepriseBuilder builder;

    @Produces
    @Singleton
    Reprise reprise(DataSource source) {
        builder = Reprise.builder().store(JdbcJobStore.builder().pooled(source));
        return builder.open();
    }

    void start(@Observes Startup event, Reprise reprise) {
        if (builder != null) {
            builder.handle(GREET, (name, job) -> System.out.println("Hello " + name));
        }
        reprise.startWorker();
    }

    void stop(@Observes Shutdown event, Reprise reprise) {
        reprise.close();
    }
}
// end
