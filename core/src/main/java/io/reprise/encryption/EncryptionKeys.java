// SPDX-License-Identifier: Apache-2.0
package io.reprise.encryption;

import io.reprise.JobSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * AES keys by name: one that encrypts, and older ones that are still needed to read. To rotate, first give the new key to
 * everybody for reading, then make it the one that encrypts; drop an old key when no job is left that needs it. Immutable.
 */
public final class EncryptionKeys {

    private final String current;
    private final Map<String, SecretKey> keys;

    private EncryptionKeys(String current, Map<String, SecretKey> keys) {
        this.current = current;
        this.keys = keys;
    }

    /**
     * One key, which encrypts and decrypts.
     *
     * @param id stored with everything it encrypts; a name, and nothing secret
     * @param key 16, 24 or 32 bytes
     */
    public static EncryptionKeys of(String id, byte[] key) {
        return new EncryptionKeys(JobSpec.requireName("key id", id), Map.of(id, secret(id, key)));
    }

    /**
     * Keys as they stand in a configuration: {@code id:base64}. The first encrypts; the others are only read with.
     *
     * @throws IllegalArgumentException if one is not a key; the message tells its id and nothing else of it
     */
    public static EncryptionKeys parse(List<String> texts) {
        EncryptionKeys keys = null;
        for (String text : texts) {
            int colon = text.lastIndexOf(':');
            String id = colon < 1 ? "?" : text.substring(0, colon);
            byte[] key = colon < 1 ? null : decode(text.substring(colon + 1));
            if (key == null) {
                throw new IllegalArgumentException("encryption key '" + id + "' is not of the form id:base64");
            }
            keys = keys == null ? of(id, key) : keys.reading(id, key);
        }
        if (keys == null) {
            throw new IllegalArgumentException("there is no encryption key");
        }
        return keys;
    }

    /** These, and an older or coming one that is only read with. */
    public EncryptionKeys reading(String id, byte[] key) {
        Map<String, SecretKey> more = new LinkedHashMap<>(keys);
        if (more.putIfAbsent(JobSpec.requireName("key id", id), secret(id, key)) != null) {
            throw new IllegalArgumentException("encryption key '" + id + "' is given twice");
        }
        return new EncryptionKeys(current, more);
    }

    String current() {
        return current;
    }

    @Nullable
    SecretKey find(String id) {
        return keys.get(id);
    }

    Set<String> ids() {
        return keys.keySet();
    }

    private static SecretKey secret(String id, byte[] key) {
        if (key.length != 16 && key.length != 24 && key.length != 32) {
            throw new IllegalArgumentException(
                    "encryption key '" + id + "' must have 16, 24 or 32 bytes, not " + key.length);
        }
        return new SecretKeySpec(Arrays.copyOf(key, key.length), "AES");
    }

    private static byte @Nullable [] decode(String base64) {
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Never shows a key. */
    @Override
    public String toString() {
        return "EncryptionKeys" + keys.keySet() + " current " + current;
    }
}
