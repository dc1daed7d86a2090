// SPDX-License-Identifier: Apache-2.0
package io.reprise.encryption;

import io.reprise.PayloadCodec;
import io.reprise.job.PayloadException;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Objects;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * A codec that encrypts the text of another codec, with AES-GCM and a new random nonce each time. The name of the key
 * is stored with the text, so keys can rotate. Text that was stored before encryption was switched on is read as it is.
 * Thread-safe.
 *
 * <pre>{@code
 * EncryptionKeys keys = EncryptionKeys.of("2026-11", newKey).reading("2026-05", oldKey);
 * Reprise.builder().codec(new EncryptingCodec(new JacksonCodec(), keys))
 * }</pre>
 *
 * @since 0.1.0
 */
public final class EncryptingCodec implements PayloadCodec {

    private static final String VERSION = "v1.";
    private static final String PREFIX = SEALED + VERSION;
    private static final String SUFFIX = "\"}";
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;

    private final PayloadCodec codec;
    private final EncryptionKeys keys;
    private final SecureRandom random = new SecureRandom();

    /**
     * Creates a codec around another.
     *
     * @param codec turns payloads into JSON text and back
     * @param keys the key that encrypts, and all keys that decrypt
     * @throws NullPointerException if either is null
     */
    public EncryptingCodec(PayloadCodec codec, EncryptionKeys keys) {
        this.codec = Objects.requireNonNull(codec, "codec");
        this.keys = Objects.requireNonNull(keys, "keys");
    }

    /** Encodes with the inner codec. The text is not encrypted yet. */
    @Override
    public String encode(Object value) {
        return codec.encode(value);
    }

    /** Decodes with the inner codec. */
    @Override
    public <T> T decode(String json, Class<T> type) {
        return codec.decode(json, type);
    }

    @Override
    public Object decode(String json, Type type) {
        return codec.decode(json, type);
    }

    @Override
    public <T> T decodeResult(String json, Class<T> type) {
        return codec.decodeResult(json, type);
    }

    /**
     * Encrypts the text with the current key.
     *
     * @throws PayloadException if the JVM cannot encrypt with the key
     */
    @Override
    public String seal(String json) {
        String id = keys.current();
        byte[] nonce = new byte[NONCE];
        random.nextBytes(nonce);
        try {
            byte[] text = codec.seal(json).getBytes(StandardCharsets.UTF_8);
            byte[] encrypted = cipher(Cipher.ENCRYPT_MODE, Objects.requireNonNull(keys.find(id)), id, nonce)
                    .doFinal(text);
            byte[] all = Arrays.copyOf(nonce, NONCE + encrypted.length);
            System.arraycopy(encrypted, 0, all, NONCE, encrypted.length);
            return PREFIX + id + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(all) + SUFFIX;
        } catch (GeneralSecurityException e) {
            throw new PayloadException("Cannot encrypt with key '" + id + "'", e);
        }
    }

    /**
     * Decrypts the text with the key that it names. A text that is not encrypted goes to the inner codec.
     *
     * @throws PayloadException if the key is not known here, is another key of this name, or the text was changed
     */
    @Override
    public String open(String stored) {
        if (!stored.startsWith(SEALED)) {
            return codec.open(stored);
        }
        int dot = stored.lastIndexOf('.');
        if (!stored.startsWith(PREFIX) || !stored.endsWith(SUFFIX) || dot <= PREFIX.length()) {
            throw new PayloadException("It is encrypted in a form that this version does not know");
        }
        String id = stored.substring(PREFIX.length(), dot);
        SecretKey key = keys.find(id);
        if (key == null) {
            throw new PayloadException("It is encrypted with key '" + id + "', which is not known here: known are "
                    + keys.ids() + ". Give Reprise that key for reading.");
        }
        return codec.open(decrypt(stored.substring(dot + 1, stored.length() - SUFFIX.length()), key, id));
    }

    private static String decrypt(String base64, SecretKey key, String id) {
        try {
            byte[] all = Base64.getUrlDecoder().decode(base64);
            byte[] nonce = Arrays.copyOf(all, NONCE);
            byte[] text =
                    cipher(Cipher.DECRYPT_MODE, key, id, nonce).doFinal(all, NONCE, Math.max(0, all.length - NONCE));
            return new String(text, StandardCharsets.UTF_8);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new PayloadException(
                    "It does not decrypt with key '" + id
                            + "': that is another key of this name, or the text was changed",
                    e);
        }
    }

    /** The name of the key is authenticated together with the text. */
    private static Cipher cipher(int mode, SecretKey key, String id, byte[] nonce) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD((VERSION + id).getBytes(StandardCharsets.UTF_8));
        return cipher;
    }
}
