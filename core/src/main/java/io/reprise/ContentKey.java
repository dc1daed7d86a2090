// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.JobSpec;
import io.reprise.text.JsonReader;
import io.reprise.text.JsonText;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Makes stored idempotency keys: of a type and the caller's key, or of a type, its version and the payload. */
final class ContentKey {

    /** No name contains it, nor does a key that comes as an HTTP header: scoped keys never equal other keys. */
    private static final String BETWEEN = "\n";

    private ContentKey() {}

    /** Returns the key under which a type's own key is stored. A key that gets too long is stored as its hash. */
    static String scoped(String type, String key) {
        String both = type + BETWEEN + key;
        return both.length() <= JobSpec.MAX_KEY ? both : type + BETWEEN + hash(key);
    }

    /** Returns the key of a job of an idempotent type: equal for equal payloads of one version, in any order of members. */
    static String of(String type, int version, String json) {
        String versioned = version == 1 ? canonical(json) : version + BETWEEN + canonical(json);
        return type + BETWEEN + hash(versioned);
    }

    private static String hash(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return "sha256:" + HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    private static String canonical(String json) {
        try {
            return JsonText.write(sorted(JsonReader.read(json)));
        } catch (IllegalArgumentException e) {
            // The text has decimals, or is too deep or long for this reader. It is then compared as it is.
            return json;
        }
    }

    private static @Nullable Object sorted(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            Map<String, @Nullable Object> members = new TreeMap<>();
            map.forEach((name, member) -> members.put(String.valueOf(name), sorted(member)));
            return members;
        }
        if (value instanceof Double) {
            // Two different decimal texts can give one double: such payloads must not be taken for equal.
            throw new IllegalArgumentException("not a whole number");
        }
        return value instanceof List<?> list
                ? list.stream().map(ContentKey::sorted).toList()
                : value;
    }
}
