// SPDX-License-Identifier: Apache-2.0
package io.reprise.insight;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of payloads, results, steps and log lines of some jobs.
 *
 * @param byQueue bytes in UTF-8, as stored, for each queue
 * @param next cursor of the next part; null if this was the last
 * @since 0.1.0
 */
public record StoredBytes(
        Map<String, Long> byQueue, @Nullable String next) {

    /** Copies the map. */
    public StoredBytes {
        byQueue = Map.copyOf(byQueue);
    }
}
