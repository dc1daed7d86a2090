// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.RepriseBuilder;
import io.reprise.encryption.EncryptingCodec;
import io.reprise.encryption.EncryptionKeys;
import io.reprise.jackson.JacksonCodec;
import io.reprise.server.auth.Quotas;
import io.reprise.server.delivery.CallShares;
import io.reprise.server.delivery.HttpDelivery;
import io.reprise.server.delivery.HttpJobCheck;
import io.reprise.server.delivery.OutboundClient;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.SigningSecret;
import io.reprise.server.http.Endpoints;
import io.reprise.server.webhook.WebhookEndpoints;
import io.reprise.server.webhook.Webhooks;
import io.reprise.store.JobStore;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.DeserializationFeature;

/** Everything that the server sends out: HTTP delivery and webhooks. Thread-safe. */
public final class Outgoing implements AutoCloseable {

    private static final int SLOTS = 20;

    private final PayloadCodec codec;
    private final OutboundGuard guard;
    private final OutboundClient client;
    private final HttpDelivery delivery;
    private final Webhooks webhooks;

    /**
     * Creates it on a prepared store.
     *
     * @param secrets secrets that sign calls; empty leaves calls unsigned
     * @param keys keys that encrypt payloads; null leaves them as they are
     */
    public Outgoing(JobStore store, OutboundGuard guard, List<SigningSecret> secrets, @Nullable EncryptionKeys keys) {
        this(store, guard, secrets, keys, UnaryOperator.identity(), new CallShares(SLOTS));
    }

    /**
     * Creates it for a service with its own wording.
     *
     * @param wording translates the {@code data} of webhooks
     * @param shares limits calls at once by kind and tenant
     */
    public Outgoing(
            JobStore store,
            OutboundGuard guard,
            List<SigningSecret> secrets,
            @Nullable EncryptionKeys keys,
            UnaryOperator<Map<String, Object>> wording,
            CallShares shares) {
        // Numbers of a body are sent exactly as they came in.
        PayloadCodec plain = new JacksonCodec(JacksonCodec.defaults()
                .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                .build());
        this.codec = keys == null ? plain : new EncryptingCodec(plain, keys);
        this.guard = guard;
        this.client = new OutboundClient(guard);
        this.delivery = new HttpDelivery(client, guard, secrets, codec, InstantSource.system(), shares);
        this.webhooks = new Webhooks(store, codec, client, guard, InstantSource.system(), wording, shares);
    }

    /** Makes an engine run deliveries. */
    public RepriseBuilder join(RepriseBuilder builder) {
        webhooks.start();
        return webhooks.join(builder.codec(codec).handle(HttpDelivery.TYPE, delivery));
    }

    /** Makes an engine without handlers store webhook deliveries for its changes; other processes send them. */
    public RepriseBuilder announce(RepriseBuilder builder) {
        webhooks.start();
        return webhooks.announce(builder.codec(codec));
    }

    /** Returns how many steps of jobs were not sent to a webhook that should have received them. */
    public long missed() {
        return webhooks.failures();
    }

    public Endpoints endpoints(Reprise reprise, Quotas quotas) {
        webhooks.attach(reprise);
        return new WebhookEndpoints(webhooks, reprise, codec, quotas);
    }

    public HttpJobCheck check() {
        return new HttpJobCheck(guard);
    }

    public PayloadCodec codec() {
        return codec;
    }

    @Override
    public void close() {
        webhooks.close();
        client.close();
    }
}
