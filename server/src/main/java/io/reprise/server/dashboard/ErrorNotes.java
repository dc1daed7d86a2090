// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.dashboard;

import io.reprise.job.AuditNote;
import io.reprise.job.Page;
import io.reprise.server.auth.Tenancy;
import io.reprise.server.http.Fields;
import io.reprise.server.http.Json;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import io.reprise.server.http.Schema;
import io.reprise.store.Document;
import io.reprise.store.JobStore;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Notes of people about errors, by fingerprint. Each tenant has its own notes. Notes are documents of the store. */
final class ErrorNotes {

    private static final String KIND = "error-note";

    /** Notes that a tenant, or everybody without one, may keep. */
    static final int MAX_NOTES = 1_000;

    private static final int TRIES = 5;

    static final Schema NOTE = Schema.object()
            .must("text", Schema.text(0, 1_000))
            .must("muted", Schema.bool().about("whether the error is known and left out of what grows"))
            .must("by", Schema.text(1, 100))
            .must("at", Schema.time())
            .orNull()
            .named("ErrorNote")
            .about("what a person noted about the error; null for nothing");

    private final JobStore store;

    ErrorNotes(JobStore store) {
        this.store = store;
    }

    /** Returns the notes of the caller's tenant by fingerprint. */
    Map<String, Map<String, @Nullable Object>> all(Tenancy tenancy) {
        Map<String, Map<String, @Nullable Object>> notes = new HashMap<>();
        String after = tenancy.prefix();
        while (true) {
            Page<Document> page = store.documents(KIND, MAX_NOTES, after);
            for (Document document : page.items()) {
                if (tenancy.prefix() == null ? Tenancy.tenant(document.id()) == null : tenancy.owns(document.id())) {
                    notes.put(tenancy.shown(document.id()), view(document));
                } else if (tenancy.prefix() != null) {
                    // Ids of a tenant are adjacent.
                    return notes;
                }
            }
            after = page.next();
            if (after == null) {
                return notes;
            }
        }
    }

    @Nullable
    Map<String, @Nullable Object> find(String id) {
        return store.document(KIND, id).map(ErrorNotes::view).orElse(null);
    }

    /** Writes a note over the one that is there. */
    Map<String, @Nullable Object> put(String id, String text, boolean muted, AuditNote by, boolean full) {
        Map<String, Object> note = new LinkedHashMap<>();
        note.put("text", text);
        note.put("muted", muted);
        note.put("by", by.by());
        note.put("at", store.now().toString());
        for (int tries = 0; tries < TRIES; tries++) {
            Document before = store.document(KIND, id).orElse(null);
            if (before == null && full) {
                throw Problem.of(ProblemType.CONFLICT, "There are " + MAX_NOTES + " notes already: delete one");
            }
            Document next = before == null
                    ? new Document(KIND, id, 0, Json.text(note))
                    : new Document(KIND, id, before.version(), Json.text(note));
            String old = before == null ? null : before.json();
            AuditNote change = by.changing(Json.change(old == null ? null : Json.parse(old), note));
            if (store.putDocument(next, "note-error", change).isPresent()) {
                return view(next);
            }
        }
        throw Problem.of(ProblemType.CONFLICT, "The note was changed time after time; try again");
    }

    void remove(String id, AuditNote by) {
        store.document(KIND, id)
                .ifPresent(document -> store.removeDocument(document, "forget-note", by.changing(document.json())));
    }

    private static Map<String, @Nullable Object> view(Document document) {
        Fields fields = new Fields(Json.parse(document.json()));
        Map<String, @Nullable Object> view = new LinkedHashMap<>();
        view.put("text", fields.text("text", ""));
        view.put("muted", fields.flag("muted"));
        view.put("by", fields.text("by", "unknown"));
        view.put("at", fields.text("at", Instant.EPOCH.toString()));
        return view;
    }
}
