// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.fuzz;

import io.reprise.jdbc.JdbcJobStore;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;

/** Cursors of lists, on a store in memory and on SQLite: a page, or a refusal. */
public final class CursorTarget {

    private static final List<JobStore> STORES = List.of(new InMemoryJobStore(), sqlite());

    private CursorTarget() {}

    private static JobStore sqlite() {
        try {
            JobStore store = JdbcJobStore.sqlite(Files.createTempFile("cursor", ".db"));
            store.prepare();
            store.insert(List.of(JobSpec.builder("a", "{}").build()));
            return store;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void fuzzerTestOneInput(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        for (JobStore store : STORES) {
            read(() -> store.find(JobQuery.all().after(text)));
            read(() -> store.find(JobQuery.deadLetters().after(text)));
            read(() -> store.audit(null, 10, text));
            read(() -> store.documents("policy", 10, text));
        }
    }

    private static void read(Runnable look) {
        try {
            look.run();
        } catch (IllegalArgumentException e) {
            // Not one of ours.
        }
    }
}
