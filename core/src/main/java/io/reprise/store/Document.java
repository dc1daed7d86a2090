// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.job.JobSpec;
import java.nio.charset.StandardCharsets;

/**
 * A small text that is stored beside the jobs, such as an API key, a subscription or a named policy. The store does not
 * read it.
 *
 * @param kind the kind of the document: 1 to 100 characters, as {@link JobSpec#requireName} allows
 * @param id the name of the document within its kind: 1 to 100 characters, as {@link JobSpec#requireName} allows
 * @param version version that was read; 0 if nothing was stored
 * @param json the content, at most {@value #MAX_BYTES} bytes in UTF-8
 * @since 0.1.0
 */
public record Document(String kind, String id, long version, String json) {

    /** The largest content in bytes. */
    public static final int MAX_BYTES = 1 << 20;

    /**
     * Checks names and size.
     *
     * @throws NullPointerException if {@code kind}, {@code id} or {@code json} is null
     * @throws IllegalArgumentException if {@code kind} or {@code id} is not a name, or {@code json} is too large
     */
    public Document {
        JobSpec.requireName("kind", kind);
        JobSpec.requireName("id", id);
        if (json.length() > MAX_BYTES / 3 && json.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
            throw new IllegalArgumentException(kind + " '" + id + "' has more than " + MAX_BYTES + " bytes");
        }
    }

    /**
     * Returns this document with another content and the same version, to replace this one.
     *
     * @throws IllegalArgumentException if the content is too large
     */
    public Document with(String newJson) {
        return new Document(kind, id, version, newJson);
    }

    /** Returns the name of this document in the audit log: kind, slash, id. */
    public String subject() {
        return kind + "/" + id;
    }
}
