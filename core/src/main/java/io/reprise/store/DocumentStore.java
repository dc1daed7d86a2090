// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.AuditNote;
import io.reprise.job.Page;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Documents that are stored beside the jobs. There are few, they are small, and they rarely change. No outcome of a job
 * depends on them.
 *
 * <p>A change compares versions: it is accepted only if the stored version is the one that the caller read.
 *
 * @since 0.1.0
 */
public interface DocumentStore {

    /** Documents per page at most. */
    int MAX_DOCUMENTS = 1_000;

    /** Returns a document; empty if there is none. */
    Optional<Document> document(String kind, String id);

    /**
     * Returns documents of a kind, in the order of their ids (by code point).
     *
     * @param limit documents per page; 1 to {@value #MAX_DOCUMENTS}
     * @param after returns only documents with greater ids; null for all
     */
    Page<Document> documents(String kind, int limit, @Nullable String after);

    /**
     * Stores a document if nobody changed it since it was read. The stored version must equal the version of the
     * document, and there must be no stored document if that version is 0. Check and change are one atomic step.
     *
     * @return the new version, greater than every version that this document ever had; empty if another caller changed
     *     it first
     */
    OptionalLong putDocument(Document document);

    /**
     * Stores a document for a person; see {@link #putDocument(Document)}. If it is stored, an audit entry is written in
     * the same step, with {@link AuditNote#detail} as its detail.
     *
     * @param action name of the operation
     */
    OptionalLong putDocument(Document document, String action, AuditNote note);

    /**
     * Deletes a document if it still has this version. Check and change are one atomic step.
     *
     * @return whether it was deleted
     */
    boolean removeDocument(Document document);

    /**
     * Deletes a document for a person; see {@link #removeDocument(Document)}. If it is deleted, an audit entry is
     * written in the same step.
     *
     * @param action name of the operation
     * @return whether it was deleted
     */
    boolean removeDocument(Document document, String action, AuditNote note);
}
