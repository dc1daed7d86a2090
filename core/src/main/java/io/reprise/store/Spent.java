// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/** Which counter of a job one ended claim goes to. Each claim ends in exactly one of these. */
public enum Spent {
    ATTEMPT,
    LOSS,
    INTERRUPTION,
    SNOOZE,
    /** The claim was given back before the handler started: no counter moves and no history is written. */
    NOTHING
}
