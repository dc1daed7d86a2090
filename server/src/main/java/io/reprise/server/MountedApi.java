// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.PayloadCodec;
import io.reprise.Reprise;
import io.reprise.server.api.Api;
import io.reprise.server.api.KeyEndpoints;
import io.reprise.server.api.LeaseWaits;
import io.reprise.server.auth.Keys;
import io.reprise.server.auth.Quotas;
import io.reprise.server.auth.SessionEndpoints;
import io.reprise.server.bulk.BulkRunner;
import io.reprise.server.dashboard.DashboardEndpoints;
import io.reprise.server.delivery.HttpJobCheck;
import io.reprise.server.delivery.OutboundGuard;
import io.reprise.server.delivery.Resolver;
import io.reprise.server.http.Endpoints;
import io.reprise.server.http.LocalCalls;
import io.reprise.server.http.Operation;
import io.reprise.server.replay.Replayer;
import io.reprise.store.JobStore;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The dashboard and the API that it needs, for the web server of an application, on the application's own Reprise. Keys,
 * webhooks, remote workers and streams of events are not in it: the application admits the callers. Thread-safe.
 */
public final class MountedApi implements AutoCloseable {

    private final LeaseWaits waiting;
    private final Replayer replayer;
    private final BulkRunner bulks;
    private final LocalCalls calls;

    /**
     * Creates it. It closes neither of its arguments.
     *
     * @param name name of this process in the fleet
     * @param store the store of {@code reprise}
     * @param codec the codec of {@code reprise}
     * @param base the path below which the page is served, without a slash at its end
     */
    public MountedApi(String name, Reprise reprise, JobStore store, PayloadCodec codec, String base) {
        this.waiting = new LeaseWaits(store);
        this.replayer = new Replayer(reprise, store, codec, name, System::nanoTime);
        this.bulks = new BulkRunner(store);
        HttpJobCheck check = new HttpJobCheck(new OutboundGuard(List.of(), Set.of(), Resolver.SYSTEM));
        Quotas quotas = new Quotas(store, Quotas.Limits.DEFAULT, InstantSource.system());
        Api api = new Api(reprise, store, check, codec, quotas);
        List<Endpoints> parts = new ArrayList<>(
                RepriseServer.endpoints(api, new Keys(store, InstantSource.system()), waiting, replayer, bulks));
        parts.removeIf(KeyEndpoints.class::isInstance);
        parts.add(SessionEndpoints.whoAsks());
        parts.add(new DashboardEndpoints(api, base));
        List<Operation> operations = new ArrayList<>();
        parts.forEach(part -> operations.addAll(part.operations()));
        this.calls = new LocalCalls(operations);
        replayer.start();
    }

    /** See {@link LocalCalls#answer}. */
    public void answer(LocalCalls.Call call, LocalCalls.Reply reply) throws IOException {
        calls.answer(call, reply);
    }

    @Override
    public void close() {
        waiting.finish();
        replayer.close();
        bulks.close();
        waiting.close();
    }
}
