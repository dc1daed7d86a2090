// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

/** Answer to a request to cancel. */
public enum Cancellation {
    /** It was pending and is CANCELLED now. */
    DONE,
    /** It is running: its worker will be told, and it ends CANCELLED unless it succeeds first. */
    REQUESTED,
    /** It had ended already. */
    TOO_LATE,
    MISSING
}
