// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.job.AuditNote;
import io.reprise.server.auth.Gatekeeper;
import io.reprise.store.JobStore;
import io.reprise.store.StoreException;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes audit entries for events that change nothing: refused requests and reads. */
public final class AuditWriter implements Gatekeeper.Witness {

    private static final Logger log = LoggerFactory.getLogger("io.reprise.server");
    private static final int MAX_TEXT = 500;
    private static final String REFUSED = "refused";
    private static final String READ = "read";

    /** Entries about callers. They belong to the caller alone, whatever the name of the subject is. */
    static final Set<String> ABOUT_CALLERS = Set.of(REFUSED, READ);

    private final JobStore store;
    private final boolean reads;

    public AuditWriter(JobStore store, boolean reads) {
        this.store = store;
        this.reads = reads;
    }

    @Override
    public void refused(String by, String subject, String why) {
        try {
            store.note(REFUSED, cut(subject, 300), new AuditNote(by, cut(why, MAX_TEXT)), null);
        } catch (StoreException e) {
            log.debug("A refusal could not be written down: {}", e.getMessage());
        }
    }

    /** Writes an entry for a read. If that fails, the read fails too. */
    @Override
    public void read(String by, String what) {
        if (reads) {
            store.note(READ, "payloads", new AuditNote(by, null), cut(what, 2_000));
        }
    }

    private static String cut(String text, int most) {
        return text.length() <= most ? text : text.substring(0, most);
    }
}
