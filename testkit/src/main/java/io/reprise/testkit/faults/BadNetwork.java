// SPDX-License-Identifier: Apache-2.0
package io.reprise.testkit.faults;

import io.reprise.history.HistoryEvent.Kind;
import java.util.Random;

/** A network between workers and the database that delays or breaks connections. */
public final class BadNetwork {

    private static final int SOME = 10;
    private static final int MOST_BYTES = 3_000;

    private final FaultFleet fleet;
    private final TcpProxy proxy;
    private final String url;

    /**
     * Creates a network for a fleet whose load the caller starts.
     *
     * @param url URL of the database through the proxy
     */
    public BadNetwork(FaultFleet fleet, TcpProxy proxy, String url) {
        this.fleet = fleet;
        this.proxy = proxy;
        this.url = url;
    }

    /** One of two workers receives nothing for a while. It harms no other worker, and recovers. */
    public void deafen() {
        FaultFleet.Worker deaf = fleet.startWorker(url);
        fleet.startWorker();
        deaf.awaitMore(Kind.ACCEPTED, SOME);
        int connections = proxy.accepted();
        long failed = deaf.failedCalls();
        proxy.stall();
        // Each of its calls ends by itself, and is made again on a new connection.
        fleet.until("calls that end", () -> deaf.failedCalls() > failed && proxy.accepted() > connections);
        fleet.awaitProgress(SOME);
        proxy.heal();
        deaf.awaitMore(Kind.ACCEPTED, SOME);
    }

    /** Requests of the only worker take effect, but answers do not arrive, this many times. */
    public void keepAnswers(int times) {
        FaultFleet.Worker worker = fleet.startWorker(url);
        for (int i = 0; i < times; i++) {
            worker.confuse(() -> proxy.stall(TcpProxy.Direction.TO_CLIENT), proxy::heal);
        }
        worker.awaitMore(Kind.ACCEPTED, SOME);
    }

    /**
     * Connections of both workers break in the middle of an answer, this many times, and are
     * slow or refused for a while.
     */
    public void breakAnswers(int times) {
        Random random = new Random(2);
        FaultFleet.Worker first = fleet.startWorker(url);
        fleet.startWorker(url);
        first.awaitMore(Kind.ACCEPTED, SOME);
        for (int i = 1; i <= times; i++) {
            int broken = proxy.broken();
            proxy.cutAfter(random.nextInt(MOST_BYTES));
            fleet.until("a broken connection", () -> proxy.broken() > broken);
            if (i % 10 == 0) {
                proxy.slow(TcpProxy.Direction.TO_CLIENT, 5);
                fleet.awaitProgress(SOME);
                proxy.refuse();
                proxy.heal();
                fleet.awaitProgress(SOME);
            }
        }
    }
}
