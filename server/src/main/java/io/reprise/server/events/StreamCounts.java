// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.events;

import io.reprise.server.auth.Quotas;
import io.reprise.server.http.Caller;
import io.reprise.server.http.Problem;
import io.reprise.server.http.ProblemType;
import java.util.HashMap;
import java.util.Map;

/** Counts the streams of each key, each tenant and all. It counts a stream in the step that admits it. Thread-safe. */
final class StreamCounts {

    private static final int MAX_STREAMS = 500;
    private static final int MAX_OF_KEY = 50;

    private final Map<String, Integer> ofKey = new HashMap<>();
    private final Map<String, Integer> ofTenant = new HashMap<>();
    private int all;

    /**
     * Counts one more stream.
     *
     * @param quota how many the caller's tenant may have
     * @throws Problem if there are as many as there may be; then nothing is counted
     */
    synchronized void take(Caller caller, int quota) {
        int own = ofKey.getOrDefault(caller.name(), 0);
        if (own >= MAX_OF_KEY) {
            throw Problem.of(ProblemType.TOO_MANY_REQUESTS, "This key has " + own + " streams open already: close one")
                    .header("Retry-After", "10");
        }
        String tenant = caller.tenant();
        if (tenant != null) {
            Quotas.requireRoom(ofTenant.getOrDefault(tenant, 0), quota, "streams", "close one");
        }
        if (all >= MAX_STREAMS) {
            throw Problem.of(ProblemType.UNAVAILABLE, "Too many streams are open already")
                    .header("Retry-After", "10");
        }
        ofKey.put(caller.name(), own + 1);
        if (tenant != null) {
            ofTenant.merge(tenant, 1, Integer::sum);
        }
        all++;
    }

    /** Counts one less, after {@link #take} of the same caller. */
    synchronized void release(Caller caller) {
        less(ofKey, caller.name());
        if (caller.tenant() != null) {
            less(ofTenant, caller.tenant());
        }
        all--;
    }

    private static void less(Map<String, Integer> counts, String name) {
        counts.computeIfPresent(name, (same, number) -> number == 1 ? null : number - 1);
    }
}
