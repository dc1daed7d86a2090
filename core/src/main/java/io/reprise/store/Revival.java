// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a dead letter, or a waiting job, is put back to PENDING with reason MANUAL.
 *
 * @param action name for the audit log: retry or replay
 * @param delay due this long after the store's now
 * @param window if set, the job's life begins anew: first due at its new due time, deadline this much later; if null the
 *     job has no deadline from then on
 * @param resetCounts whether attempts, losses, interruptions, snoozes and grants go back to 0 and suspicion is lifted
 * @param grant attempts added to what the policy allows
 * @param edit what else changes
 */
public record Revival(
        String action, Duration delay, @Nullable Duration window, boolean resetCounts, int grant, Edit edit) {

    /**
     * Changes to the job itself.
     *
     * @param newId store it as a new job and discard the old one, history included; the audit log keeps the link
     * @param queue another queue, or null
     * @param payload another payload, or null
     */
    public record Edit(
            boolean newId, @Nullable String queue, @Nullable String payload) {
        public static final Edit NONE = new Edit(false, null, null);
    }
}
