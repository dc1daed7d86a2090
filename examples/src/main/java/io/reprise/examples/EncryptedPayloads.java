// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples;

import io.reprise.JobType;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.encryption.EncryptingCodec;
import io.reprise.encryption.EncryptionKeys;
import io.reprise.jackson.JacksonCodec;
import io.reprise.job.JobId;
import io.reprise.store.JobStore;
import io.reprise.testing.InMemoryJobStore;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Stored payloads cannot be read without the key. */
public final class EncryptedPayloads {

    private static final JobType<String> CARD = JobType.of("charge-card", String.class);

    private EncryptedPayloads() {}

    public static void main(String[] args) {
        SecureRandom random = new SecureRandom();
        byte[] key = new byte[32];
        byte[] oldKey = new byte[32];
        random.nextBytes(key);
        random.nextBytes(oldKey);
        // snippet:codec
        EncryptionKeys keys = EncryptionKeys.of("2026-11", key).reading("2026-05", oldKey);
        RepriseBuilder builder = Reprise.builder().codec(new EncryptingCodec(new JacksonCodec(), keys));
        // end
        List<String> charged = new CopyOnWriteArrayList<>();
        JobStore store = new InMemoryJobStore();
        builder.store(store).handle(CARD, (number, job) -> charged.add(number));
        try (Reprise reprise = builder.start()) {
            JobId id = reprise.enqueue(CARD.job("4242424242424242"));
            reprise.await(id, Example.SOON);
            String stored = store.find(id).orElseThrow().spec().payload();
            Example.check(charged.contains("4242424242424242"), "the handler gets what was enqueued");
            Example.check(!stored.contains("424242424242"), "what is stored does not tell it");
            Example.say("Stored: %s…", stored.substring(0, 28));
        }
    }
}
