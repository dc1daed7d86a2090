// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import org.jspecify.annotations.Nullable;

/**
 * How a dead letter is put back. Immutable: each method returns a copy.
 *
 * @param newId as a new job, discarding the dead letter and its history; otherwise under its own id
 * @param keepCounters go on counting, with one attempt granted if none is left, instead of starting anew
 * @param queue another queue, or null for its own
 * @param payload another payload as JSON, or null for its own
 */
public record Replay(
        boolean newId,
        boolean keepCounters,
        @Nullable String queue,
        @Nullable String payload) {

    /** Under its own id, with its counters at zero. */
    public static final Replay FRESH = new Replay(false, false, null, null);

    public Replay {
        if (queue != null) {
            JobSpec.requireName("queue", queue);
        }
    }

    public Replay asNewJob() {
        return new Replay(true, keepCounters, queue, payload);
    }

    public Replay keepingCounters() {
        return new Replay(newId, true, queue, payload);
    }

    public Replay toQueue(String name) {
        return new Replay(newId, keepCounters, name, payload);
    }

    public Replay withPayload(String json) {
        return new Replay(newId, keepCounters, queue, json);
    }
}
