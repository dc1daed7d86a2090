// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Queues in which jobs may be claimed, found by a look at some of all queues.
 *
 * @param queues their names, in order
 * @param last the last queue that was looked at: a next look goes on after it; null if there is none after it
 */
public record DueQueues(List<String> queues, @Nullable String last) {

    /** Greater than every name of a queue. */
    public static final String END = "~";

    public DueQueues {
        queues = List.copyOf(queues);
    }
}
