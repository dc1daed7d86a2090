// SPDX-License-Identifier: Apache-2.0
package io.reprise.simulator.chaos;

/** Unwinds the step of a process that died. It is an Error, because the engine survives every other exception. */
final class Crashed extends Error {

    private static final long serialVersionUID = 1L;

    Crashed(String worker) {
        super(worker + " is dead", null, false, false);
    }
}
