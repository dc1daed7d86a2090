// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

/**
 * How many jobs a group has in its queue. Immutable.
 *
 * @param queue name of the queue
 * @param group name of the group
 * @param jobs jobs that wait or run
 * @since 0.1.0
 */
public record GroupBacklog(String queue, String group, long jobs) {}
