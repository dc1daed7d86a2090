// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Queues in which jobs may be claimed. {@link JobStore#dueQueues} finds them.
 *
 * @param queues their names, in order
 * @param last the last queue that was looked at: the next call continues after it; null if no queue is left
 * @since 0.1.0
 */
public record DueQueues(List<String> queues, @Nullable String last) {

    /** A text that is greater than every name of a queue. */
    public static final String END = "~";

    /** Copies the list. */
    public DueQueues {
        queues = List.copyOf(queues);
    }
}
