// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.encryption.EncryptingCodec;
import io.reprise.encryption.EncryptionKeys;
import io.reprise.jackson.JacksonCodec;
import io.reprise.testing.InMemoryJobStore;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SealedHeadersTest {

    @Test
    void headers_are_stored_encrypted_if_the_server_has_keys() {
        EncryptionKeys keys =
                EncryptionKeys.parse(List.of("k:" + Base64.getEncoder().encodeToString(new byte[32])));
        InMemoryJobStore store = new InMemoryJobStore();
        Subscriptions subscriptions = new Subscriptions(store, new EncryptingCodec(new JacksonCodec(), keys));
        Subscription subscription = new Subscription(
                "wh",
                null,
                "https://example.com/",
                null,
                WebhookFixture.ALL,
                Map.of("X-Secret", subscriptions.seal("s3cret")),
                List.of(),
                null,
                Instant.EPOCH,
                null,
                null);
        subscriptions.add(subscription, WebhookFixture.NOTE);
        assertThat(store.document("webhook", "wh").orElseThrow().json()).doesNotContain("s3cret");
        assertThat(subscriptions.headers(subscription)).containsEntry("X-Secret", "s3cret");
    }
}
