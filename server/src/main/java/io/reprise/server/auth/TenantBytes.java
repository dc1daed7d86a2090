// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.auth;

import io.reprise.insight.StoredBytes;
import io.reprise.store.InsightStore;
import java.util.HashMap;
import java.util.Map;

/**
 * The bytes that each tenant has stored with its jobs: the last measurement plus everything admitted since. A measurement
 * reads all jobs, so it runs in parts and seldom. Thread-safe.
 */
final class TenantBytes {

    private static final int ROWS = 10_000;

    private final InsightStore store;
    private Map<String, Long> measured = Map.of();

    /** Bytes admitted since the last measurement began, and before it. */
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

    /** Reads the whole store. Bytes that are admitted during the measurement are added, even if it has seen them. */
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

    /** If the previous measurement failed, the bytes admitted before it are still not included. */
    private synchronized void begin() {
        since.forEach((tenant, bytes) -> before.merge(tenant, bytes, Long::sum));
        since = new HashMap<>();
    }

    private synchronized void end(Map<String, Long> found) {
        measured = found;
        before = new HashMap<>();
    }
}
