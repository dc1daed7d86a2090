// SPDX-License-Identifier: Apache-2.0
package io.reprise.jdbc.faults;

import io.reprise.testkit.servers.PostgresServer;

/** A PostgreSQL primary and a synchronous standby, which may change places. */
final class Pair implements AutoCloseable {

    /** How long who waits for a server that says nothing waits. */
    private static final int SILENCE_SECONDS = 3;

    private final PostgresServer first = PostgresServer.startDurable();
    private final PostgresServer second;
    private final String url;
    private boolean swapped;

    Pair() {
        try {
            second = first.startStandby();
            first.commitWithStandby();
            url = first.freshDatabaseUrl();
        } catch (RuntimeException e) {
            first.close();
            throw e;
        }
    }

    PostgresServer primary() {
        return swapped ? second : first;
    }

    PostgresServer standby() {
        return swapped ? first : second;
    }

    /** What workers are told: whichever of the two is the primary. */
    String url() {
        return url.replace("127.0.0.1:" + first.port(), "127.0.0.1:" + first.port() + ",127.0.0.1:" + second.port())
                + "&targetServerType=primary&hostRecheckSeconds=1&sslResponseTimeout=1000&socketTimeout="
                + SILENCE_SECONDS;
    }

    /** That of one of them, come what may. */
    String urlOf(PostgresServer server) {
        return plainUrlOf(server) + "&socketTimeout=" + SILENCE_SECONDS;
    }

    /** The same for who has time. */
    String plainUrlOf(PostgresServer server) {
        return url.replace("127.0.0.1:" + first.port(), "127.0.0.1:" + server.port());
    }

    /** Makes the standby the primary. What becomes of the other is the caller's affair. */
    void failOver() {
        standby().promote();
        swapped = !swapped;
    }

    /** The former primary, which must be down, becomes a synchronous standby. */
    void restore() {
        standby().follow(primary());
        primary().commitWithStandby();
    }

    @Override
    public void close() {
        second.close();
        first.close();
    }
}
