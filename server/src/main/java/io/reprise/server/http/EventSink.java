// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.http;

/** An open stream of server-sent events. Thread-safe; no call waits for the client. */
public interface EventSink {

    /**
     * Sends text that ends with an empty line, in the order of the calls.
     *
     * @return false if the client has gone, or is so far behind that it was cut off
     */
    boolean send(String text);

    /** Whether the client keeps up: what is sent to one that does not is kept in memory. */
    default boolean isReady() {
        return true;
    }

    /** Ends the stream. */
    void close();

    /** Called once when it has ended, whoever ended it. */
    void onEnd(Runnable action);
}
