// SPDX-License-Identifier: Apache-2.0
package io.reprise.settings;

/**
 * The order in which due jobs of a queue are claimed.
 *
 * @since 0.1.0
 */
public enum ClaimOrder {
    /**
     * A share of each batch is kept for retries, so that fresh jobs and retries never starve each other. Within each of
     * the two, jobs of higher priority come first, then those that are due earlier. The default.
     */
    SHARE,
    /**
     * Jobs of higher priority come first, then those that are due earlier, whether they are fresh or retries. Retries of
     * high priority can hold back fresh jobs of low priority, and the other way round.
     */
    PRIORITY,
    /**
     * Among jobs of equal priority, those that were enqueued first come first, whether they are fresh or retries. A job
     * that was enqueued for later has its place by that time. A retry that is due takes its old place again, so its due
     * time becomes the time when it was first due.
     */
    CREATION
}
