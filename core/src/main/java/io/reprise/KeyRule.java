// SPDX-License-Identifier: Apache-2.0
package io.reprise;

/** What enqueueing does when another live job (pending or running) already holds the unique key. */
public enum KeyRule {
    /** Return the id of the job that holds the key; nothing is stored. The default. */
    KEEP,
    /** Refuse with {@link DuplicateKeyException}; nothing of the call is stored. */
    REJECT,
    /**
     * Take over the waiting job: it keeps its id and counters, and gets the new payload, priority, policy, due time and
     * options. A job that is running already cannot be replaced: refused like {@link #REJECT}.
     */
    REPLACE
}
