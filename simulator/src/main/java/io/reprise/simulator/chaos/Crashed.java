// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

/** Unwinds what a process was about when it died. An error, since the engine survives all else. */
final class Crashed extends Error {

    private static final long serialVersionUID = 1L;

    Crashed(String worker) {
        super(worker + " is dead", null, false, false);
    }
}
