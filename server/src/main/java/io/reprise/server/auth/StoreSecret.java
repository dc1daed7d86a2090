// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.store.Document;
import io.reprise.store.DocumentStore;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A secret that all servers on one store share and nobody else knows. The first server creates it. Immutable. */
public final class StoreSecret {

    private static final String KIND = "server-secret";
    private static final String ID = "1";
    private static final String ALGORITHM = "HmacSHA256";
    private static final int BYTES = 32;

    /** Bytes of a signature. Guessing one takes longer than a server allows wrong tries. */
    private static final int MARK_BYTES = 10;

    /** One for each thread, since to look one up costs more than to use it. */
    private final ThreadLocal<Mac> macs;

    private StoreSecret(byte[] secret) {
        SecretKeySpec key = new SecretKeySpec(secret, ALGORITHM);
        this.macs = ThreadLocal.withInitial(() -> mac(key));
    }

    private static Mac mac(SecretKeySpec key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("This Java has no " + ALGORITHM, e);
        }
    }

    /** Returns the secret of this store, and creates it if needed. */
    public static StoreSecret of(DocumentStore store) {
        Document stored = store.document(KIND, ID).orElse(null);
        if (stored == null) {
            byte[] fresh = new byte[BYTES];
            new SecureRandom().nextBytes(fresh);
            String json = "\"" + HexFormat.of().formatHex(fresh) + "\"";
            // If several servers try, the first one's secret is stored.
            store.putDocument(new Document(KIND, ID, 0, json));
            stored = store.document(KIND, ID).orElseThrow();
        }
        String hex = stored.json().replaceAll("[^0-9a-f]", "");
        return new StoreSecret(HexFormat.of().parseHex(hex));
    }

    /** Returns the signature of a text. */
    public String mark(String text) {
        byte[] full = macs.get().doFinal(text.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(full, 0, MARK_BYTES);
    }

    /** Whether the signature fits the text. Takes the same time either way. */
    public boolean isMark(String mark, String text) {
        return MessageDigest.isEqual(
                mark.getBytes(StandardCharsets.UTF_8), mark(text).getBytes(StandardCharsets.UTF_8));
    }
}
