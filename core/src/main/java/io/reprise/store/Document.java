// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobSpec;
import java.nio.charset.StandardCharsets;

/**
 * Something kept beside the jobs that the store does not look into: an API key, a subscription, a named policy.
 *
 * @param kind what it is; a name
 * @param id which of its kind; a name
 * @param version of what was read; 0 if there was nothing
 * @param json its content
 */
public record Document(String kind, String id, long version, String json) {

    public static final int MAX_BYTES = 1 << 20;

    public Document {
        JobSpec.requireName("kind", kind);
        JobSpec.requireName("id", id);
        if (json.length() > MAX_BYTES / 3 && json.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
            throw new IllegalArgumentException(kind + " '" + id + "' has more than " + MAX_BYTES + " bytes");
        }
    }

    /** The same with another content, to be put in place of this one. */
    public Document with(String newJson) {
        return new Document(kind, id, version, newJson);
    }

    /** As it is called in the audit log. */
    public String subject() {
        return kind + "/" + id;
    }
}
