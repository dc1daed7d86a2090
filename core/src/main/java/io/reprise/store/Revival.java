// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.JobId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
     * What the audit log says about it.
     *
     * @param now the id of the job that is pending now
     */
    public String detail(JobId before, JobId now) {
        List<String> parts = new ArrayList<>();
        parts.add(now.equals(before) ? "same id" : "as job " + now);
        parts.add(delay.isZero() ? "now" : "after " + delay);
        if (resetCounts) {
            parts.add("counters reset");
        }
        if (grant > 0) {
            parts.add("granted " + grant);
        }
        if (edit.queue() != null) {
            parts.add("to queue " + edit.queue());
        }
        if (edit.payload() != null) {
            parts.add("payload edited");
        }
        return String.join(", ", parts);
    }

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
