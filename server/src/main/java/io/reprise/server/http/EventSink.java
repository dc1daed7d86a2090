// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

/** An open stream of server-sent events. Thread-safe; no call waits for the client. */
public interface EventSink {

    /**
     * Sends text that ends with an empty line, in the order of the calls.
     *
     * @return false if the client has gone, or was cut off because it is too far behind
     */
    boolean send(String text);

    /** Whether the client keeps up. Text for a slow client stays in memory. */
    default boolean isReady() {
        return true;
    }

    /** Ends the stream. */
    void close();

    /** Runs the action once when the stream has ended, for whatever reason. */
    void onEnd(Runnable action);
}
