// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Documents that are kept beside the jobs, each changed by comparing and setting its version. Few, small and rarely
 * written; nothing that becomes of a job depends on them.
 */
public interface DocumentStore {

    /** Documents per page at most. */
    int MAX_DOCUMENTS = 1_000;

    Optional<Document> document(String kind, String id);

    /**
     * Documents of a kind in the order of their ids (by code point), those after {@code after} if that is set.
     *
     * @param limit how many at most: 1 to {@value #MAX_DOCUMENTS}
     */
    Page<Document> documents(String kind, int limit, @Nullable String after);

    /**
     * Stores a document if nobody else did since it was read: the stored version must be that of the document, and there
     * must be none if that is 0.
     *
     * @return the new version, greater than every version this document ever had; empty if another was first
     */
    OptionalLong putDocument(Document document);

    /** The same by hand: an accepted change is noted, with the action, in the audit log. */
    OptionalLong putDocument(Document document, String action, Note note);

    /** Deletes a document, if it still has this version. */
    boolean removeDocument(Document document);

    /** The same by hand: a deletion is noted, with the action, in the audit log. */
    boolean removeDocument(Document document, String action, Note note);
}
