// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import io.reprise.Job;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a job stands among others.
 *
 * @param at the store's time of this
 * @param leaseUntil when its worker loses it unless it renews; set exactly while RUNNING
 * @param parkedBy name of the control state it waits for; null unless it is parked
 * @param paused by whom its queue is paused; null while it is not
 * @param maxRunning its queue's limit; null if there is none
 * @param running jobs of its queue that run now
 * @param higher due jobs of higher priority that are claimed before it, counted up to a limit; 0 unless it is due and not parked
 * @param earlier the same for jobs of its priority
 */
public record Standing(
        Job job,
        Instant at,
        @Nullable Instant leaseUntil,
        @Nullable String parkedBy,
        QueueState.@Nullable Pause paused,
        @Nullable Integer maxRunning,
        int running,
        int higher,
        int earlier) {}
