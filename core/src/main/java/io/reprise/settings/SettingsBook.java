// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

import io.reprise.job.AuditNote;
import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import java.util.OptionalLong;

/**
 * The place of {@link FleetSettings} in the store. A change compares versions and is written to the audit log.
 * Thread-safe.
 *
 * @since 0.1.0
 */
public final class SettingsBook {

    private static final String KIND = "settings";
    private static final String ID = "fleet";

    private final DocumentStore store;

    /** Creates it on a prepared store. */
    public SettingsBook(DocumentStore store) {
        this.store = store;
    }

    /**
     * Settings as they were read.
     *
     * @param version their version; 0 if nothing is stored
     * @param settings the settings; {@link FleetSettings#NONE} if nothing is stored
     */
    public record Page(long version, FleetSettings settings) {}

    /**
     * Reads the settings.
     *
     * @throws IllegalArgumentException if a newer version of Reprise wrote settings that this one does not know
     */
    public Page read() {
        return store.document(KIND, ID)
                .map(document -> new Page(document.version(), FleetSettings.fromJson(document.json())))
                .orElse(new Page(0, FleetSettings.NONE));
    }

    /** Returns the version that is stored; 0 if nothing is stored. */
    public long version() {
        return store.document(KIND, ID).map(Document::version).orElse(0L);
    }

    /**
     * Replaces the settings if nobody changed them since they were read, and writes the audit log in the same step.
     *
     * @param before what was read
     * @param note who changes them, and why
     * @return the new version; empty if another caller changed them first
     * @throws IllegalArgumentException if their JSON is larger than a document may be
     */
    public OptionalLong replace(Page before, FleetSettings settings, AuditNote note) {
        return store.putDocument(new Document(KIND, ID, before.version, settings.toJson()), "put-settings", note);
    }
}
