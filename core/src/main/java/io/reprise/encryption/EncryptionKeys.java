// SPDX-License-Identifier: Apache-2.0
package io.reprise.encryption;

import io.reprise.job.JobSpec;
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
 * AES keys by name: one key that encrypts, and other keys that only decrypt. To rotate, first give the new key to all
 * processes for decrypting. Then make it the key that encrypts. Remove an old key when no stored job needs it.
 * Immutable.
 *
 * @since 0.1.0
 */
public final class EncryptionKeys {

    private final String current;
    private final Map<String, SecretKey> keys;

    private EncryptionKeys(String current, Map<String, SecretKey> keys) {
        this.current = current;
        this.keys = keys;
    }

    /**
     * Creates a set of one key, which encrypts and decrypts.
     *
     * @param id name of the key, stored with every text that it encrypts, and not secret
     * @param key 16, 24 or 32 bytes; copied
     * @throws IllegalArgumentException if {@code id} does not have the form of {@link JobSpec#requireName}, or the key
     *     has another length
     */
    public static EncryptionKeys of(String id, byte[] key) {
        return new EncryptionKeys(JobSpec.requireName("key id", id), Map.of(id, secret(id, key)));
    }

    /**
     * Reads keys from a configuration, each in the form {@code id:base64}. The first key encrypts, the others only
     * decrypt.
     *
     * @throws IllegalArgumentException if the list is empty, a text does not have this form, a key has a wrong length,
     *     or an id occurs twice. The message names the id and never the key
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

    /**
     * Returns a copy with one more key that only decrypts: an older key, or a key that will encrypt soon. Calls add up.
     *
     * @param id name of the key
     * @param key 16, 24 or 32 bytes; copied
     * @throws IllegalArgumentException if the id is there already or does not have the form of
     *     {@link JobSpec#requireName}, or the key has another length
     */
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

    /** Returns the names of the keys, never a key. */
    @Override
    public String toString() {
        return "EncryptionKeys" + keys.keySet() + " current " + current;
    }
}
