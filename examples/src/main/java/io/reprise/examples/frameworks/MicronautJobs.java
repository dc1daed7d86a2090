// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.frameworks;

import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Context;
import io.micronaut.context.annotation.Factory;
import io.reprise.JobHandler;
import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.jdbc.JdbcJobStore;
import java.util.List;
import javax.sql.DataSource;

/** Reprise as a bean of Micronaut. */
// snippet:factory
@Factory
public class MicronautJobs {

    /** A handler that knows its type; each bean of this type is registered. */
    public interface Handler<P> extends JobHandler<P> {
        JobType<P> type();
    }

    @Context
    @Bean(preDestroy = "close")
    Reprise reprise(DataSource source, List<Handler<?>> handlers) {
        RepriseBuilder builder = Reprise.builder().store(JdbcJobStore.builder().pooled(source));
        handlers.forEach(handler -> register(builder, handler));
        return builder.start();
    }

    private static <P> void register(RepriseBuilder builder, Handler<P> handler) {
        builder.handle(handler.type(), handler);
    }
}
// end
