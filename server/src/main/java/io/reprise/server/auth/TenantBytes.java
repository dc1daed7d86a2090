// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.store.InsightStore;
import io.reprise.store.StoredBytes;
import java.util.HashMap;
import java.util.Map;

/**
 * How many bytes of payloads and results each tenant has in the store: as it was measured last, and what was let pass since. To
 * measure is to walk through all jobs, so it is done in parts and seldom. Thread-safe.
 */
final class TenantBytes {

    private static final int ROWS = 10_000;

    private final InsightStore store;
    private Map<String, Long> measured = Map.of();

    /** Let pass since the last measure began, and before. */
    private Map<String, Long> since = new HashMap<>();

    private Map<String, Long> before = new HashMap<>();

    TenantBytes(InsightStore store) {
        this.store = store;
    }

    synchronized long of(String tenant) {
        return measured.getOrDefault(tenant, 0L) + before.getOrDefault(tenant, 0L) + since.getOrDefault(tenant, 0L);
    }

    synchronized void add(String tenant, long bytes) {
        since.merge(tenant, bytes, Long::sum);
    }

    /** Walks through the store. What is let pass meanwhile counts on top, even if it was seen. */
    void measure() {
        begin();
        Map<String, Long> found = new HashMap<>();
        String cursor = null;
        do {
            StoredBytes part = store.bytes(cursor, ROWS);
            part.byQueue().forEach((queue, bytes) -> {
                String tenant = Tenancy.tenant(queue);
                if (tenant != null) {
                    found.merge(tenant, bytes, Long::sum);
                }
            });
            cursor = part.next();
        } while (cursor != null);
        end(found);
    }

    /** If the measure before failed, what was let pass before it is still not in it. */
    private synchronized void begin() {
        since.forEach((tenant, bytes) -> before.merge(tenant, bytes, Long::sum));
        since = new HashMap<>();
    }

    private synchronized void end(Map<String, Long> found) {
        measured = found;
        before = new HashMap<>();
    }
}
