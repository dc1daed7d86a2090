// SPDX-License-Identifier: Apache-2.0
package io.reprise.store;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How long the payloads and results of some jobs are.
 *
 * @param byQueue their bytes in UTF-8, as they are stored
 * @param next where the next part begins; null if this was the last
 */
public record StoredBytes(
        Map<String, Long> byQueue, @Nullable String next) {

    public StoredBytes {
        byQueue = Map.copyOf(byQueue);
    }
}
