// SPDX-License-Identifier: Apache-2.0
package io.reprise.examples.video;

import io.reprise.Reprise;
import io.reprise.job.AuditNote;
import io.reprise.job.JobId;
import io.reprise.server.RepriseServer;
import io.reprise.server.api.Outgoing;
import io.reprise.server.auth.Keys;
import io.reprise.server.delivery.CallShares;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.http.Scope;
import io.reprise.server.net.HttpSettings;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The service: the Reprise server with endpoints for videos beside its own, and a worker that generates them. */
final class VideoService implements AutoCloseable {

    /** Webhooks and other calls that run at once. */
    private static final int CALLS = 10;

    private final RepriseServer server;
    private final Keys keys;

    private VideoService(RepriseServer server, Keys keys) {
        this.server = server;
        this.keys = keys;
    }

    /**
     * Starts it on the loopback address.
     *
     * @param store is closed with it
     */
    static VideoService start(VideoSettings settings, FakeProvider provider, JobStore store, int port)
            throws IOException {
        store.prepare();
        // Webhooks to this machine are refused unless allowed, and here the receiver is on this machine.
        OutboundGuard guard = new OutboundGuard(List.of("127.0.0.1"), Set.of(), Resolver.SYSTEM);
        RepriseServer server = RepriseServer.start(
                Reprise.builder()
                        .retry(settings.policy())
                        .retriesEnabled(settings.enableRetries())
                        .poll(settings.retryCheckInterval())
                        .handle(VideoEndpoints.GENERATE, (request, job) -> {
                            job.progress(10, "asked the provider");
                            job.result(provider.generate(request.model(), request.prompt(), job.attempt()));
                        }),
                store,
                new RepriseServer.Parts(
                        "video-service",
                        "example",
                        new HttpSettings("127.0.0.1", port, HttpSettings.Limits.DEFAULT, null),
                        1_000,
                        new Outgoing(store, guard, List.of(), null, VideoEndpoints::told, new CallShares(CALLS)),
                        List.of(api -> new VideoEndpoints(api.reprise()))));
        return new VideoService(server, new Keys(store, InstantSource.system()));
    }

    String url() {
        return server.url();
    }

    /** A key whose tasks nobody else sees, if it is a customer's. */
    String virtualKey(String name, @Nullable String customer) {
        return keys.create(
                        name,
                        Set.of(Scope.READ, Scope.ENQUEUE, Scope.OPERATE),
                        customer,
                        new AuditNote("example", null))
                .text();
    }

    /** The provider that a task calls; its breaker and budget have this name. */
    @Nullable
    String resourceOf(String task) {
        return server.reprise()
                .find(JobId.parse(task.substring(VideoEndpoints.ID.length())))
                .orElseThrow()
                .spec()
                .resource();
    }

    @Override
    public void close() {
        server.close();
    }
}
