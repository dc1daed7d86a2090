// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import org.jspecify.annotations.Nullable;

/**
 * How many jobs of a queue, or of one of its groups, started in time. Only queues with a service level are measured: see
 * {@code Queue.startWithin}. Immutable.
 *
 * @param queue name of the queue; {@link Activity#REST} for all that were too many to be counted by name
 * @param group name of the group; null for the whole queue
 * @param started jobs that started for the first time
 * @param late those of them that waited longer than the service level allows
 * @since 0.1.0
 */
public record StartLevel(String queue, @Nullable String group, long started, long late) {

    /** Returns the share of the jobs that started in time, 0 to 1; 1 if none started. */
    public double inTime() {
        return started == 0 ? 1 : (double) (started - late) / started;
    }
}
