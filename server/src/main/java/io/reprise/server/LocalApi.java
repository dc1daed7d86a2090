// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import io.reprise.Reprise;
import io.reprise.server.api.Api;
import io.reprise.server.api.LeaseWaits;
import io.reprise.server.api.Outgoing;
import io.reprise.server.auth.Keys;
import io.reprise.server.auth.Quotas;
import io.reprise.server.bulk.BulkRunner;
import io.reprise.server.http.Caller;
import io.reprise.server.http.LocalCalls;
import io.reprise.server.http.Operation;
import io.reprise.server.replay.Replayer;
import io.reprise.store.JobStore;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The API in this process, on a store: without a socket, and without running jobs. While it is open it also moves paced
 * replays on, unless a server does, and runs its own bulks. Thread-safe.
 */
public final class LocalApi implements AutoCloseable {

    private final Reprise reprise;
    private final Outgoing outgoing;
    private final LeaseWaits waiting;
    private final Replayer replayer;
    private final BulkRunner bulks;
    private final LocalCalls calls;

    /**
     * Opens the API.
     *
     * @param name name of this process in the fleet
     * @param store a prepared store; it is closed with the API
     */
    public LocalApi(String name, JobStore store, Outgoing outgoing) {
        this.outgoing = outgoing;
        this.reprise = outgoing.announce(Reprise.builder())
                .migrate(false)
                .store(store)
                .name(name)
                .start();
        this.waiting = new LeaseWaits(store);
        this.replayer = new Replayer(reprise, store, outgoing.codec(), name, System::nanoTime);
        this.bulks = new BulkRunner(store);
        Quotas quotas = new Quotas(store, Quotas.Limits.DEFAULT, InstantSource.system());
        Api api = new Api(reprise, store, outgoing.check(), outgoing.codec(), quotas);
        List<Operation> operations = new ArrayList<>();
        RepriseServer.endpoints(api, new Keys(store, InstantSource.system()), waiting, replayer, bulks)
                .forEach(part -> operations.addAll(part.operations()));
        this.calls = new LocalCalls(operations);
        replayer.start();
    }

    /** See {@link LocalCalls#call}. */
    public @Nullable JsonNode call(Caller caller, String method, String target, @Nullable JsonNode body) {
        return calls.call(caller, method, target, body);
    }

    @Override
    public void close() {
        waiting.finish();
        replayer.close();
        bulks.close();
        waiting.close();
        reprise.close();
        outgoing.close();
    }
}
