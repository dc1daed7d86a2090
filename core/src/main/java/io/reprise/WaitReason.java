// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/** Why a pending job waits. */
public enum WaitReason {
    /** Never run, due at once when enqueued. */
    NEW,
    /** Never run, enqueued for later. */
    DELAYED,
    /** An attempt failed or was lost; the policy grants another. */
    RETRY,
    /** Its handler asked to be called later. */
    SNOOZE,
    /** The circuit of its resource is open. */
    BREAKER,
    /** The retry budget is empty. */
    BUDGET,
    /** No live worker of its queue has a handler for its type. */
    NO_HANDLER,
    /** A person put it back. */
    MANUAL
}
