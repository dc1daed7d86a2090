// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A secret that signs outgoing calls, after Standard Webhooks: HMAC-SHA256 over id, time and body. During a rotation a
 * call carries a signature by each secret, so that the receiver may know either. Immutable.
 */
public final class SigningSecret {

    private static final String PREFIX = "whsec_";
    private static final int MIN_BYTES = 24;
    private static final int MAX_BYTES = 64;

    private final byte[] key;

    private SigningSecret(byte[] key) {
        this.key = key;
    }

    /**
     * Reads {@code whsec_} and base64 of 24 to 64 bytes.
     *
     * @throws IllegalArgumentException for any other text, which is not quoted
     */
    public static SigningSecret parse(String text) {
        try {
            byte[] key = Base64.getDecoder().decode(text.startsWith(PREFIX) ? text.substring(PREFIX.length()) : "?");
            if (key.length >= MIN_BYTES && key.length <= MAX_BYTES) {
                return new SigningSecret(key);
            }
        } catch (IllegalArgumentException e) {
            // Refused below, without the cause, which would quote the secret.
        }
        throw new IllegalArgumentException(
                "a signing secret is " + PREFIX + " and base64 of " + MIN_BYTES + " to " + MAX_BYTES + " bytes");
    }

    public static SigningSecret random(SecureRandom random) {
        byte[] key = new byte[32];
        random.nextBytes(key);
        return new SigningSecret(key);
    }

    /** Returns the secret of a tenant, derived from this one; this one itself for the empty tenant. */
    SigningSecret of(String tenant) {
        return tenant.isEmpty() ? this : new SigningSecret(hash("reprise delivery " + tenant));
    }

    /** Returns the secret's text. It is shown once, to the person who made it, and otherwise only stored. */
    public String reveal() {
        return PREFIX + Base64.getEncoder().encodeToString(key);
    }

    /** Returns the headers of a signed call, with the signatures of all secrets side by side. */
    public static Map<String, String> headers(List<SigningSecret> secrets, String id, Instant at, String body) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (!secrets.isEmpty()) {
            headers.put("webhook-id", id);
            headers.put("webhook-timestamp", Long.toString(at.getEpochSecond()));
            headers.put(
                    "webhook-signature",
                    String.join(
                            " ",
                            secrets.stream()
                                    .map(secret -> secret.sign(id + "." + at.getEpochSecond() + "." + body))
                                    .toList()));
        }
        return headers;
    }

    private String sign(String content) {
        return "v1," + Base64.getEncoder().encodeToString(hash(content));
    }

    private byte[] hash(String content) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(content.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has HmacSHA256", e);
        }
    }

    /** Never shows the secret. */
    @Override
    public String toString() {
        return "SigningSecret[…]";
    }
}
