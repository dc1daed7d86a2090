// SPDX-License-Identifier: Apache-2.0
package io.reprise.events;

/**
 * A listener that reads the events of the whole fleet from the store. It is told an event of its own process only if
 * that event is not written there, so it gets each event once and in the order of all processes.
 */
public interface FleetReader {

    /** Called instead of the listener's method for an event that is written to the store. Must return at once. */
    void onWritten();
}
