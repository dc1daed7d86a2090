// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobId;
import io.reprise.store.JobStore;

/** PostgreSQL instead of SQLite: another store, nothing else. Give the password and have a database 'shop' to try it. */
public final class PostgresStore {

    private static final JobType<String> GREET = JobType.of("greet", String.class);

    private PostgresStore() {}

    public static void main(String[] args) {
        if (args.length == 0) {
            Example.say("Without a password this example runs on SQLite.");
        }
        try (Reprise reprise = Reprise.builder()
                .store(args.length == 0 ? Example.store() : open(args[0]))
                .handle(GREET, (name, job) -> Example.say("Hello, %s", name))
                .start()) {
            JobId id = reprise.enqueue(GREET.job("Ada"));
            Example.check(reprise.await(id, Example.SOON).succeeded(), "the job is done");
        }
    }

    private static JobStore open(String password) {
        // snippet:postgres
        JobStore store =
                JdbcJobStore.builder().poolSize(8).postgresql("jdbc:postgresql://localhost/shop", "shop", password);
        // end
        return store;
    }
}
