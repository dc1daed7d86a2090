// SPDX-License-Identifier: Apache-2.0
package io.reprise;

import io.reprise.job.JobSpec;
import io.reprise.text.JsonMerge;
import org.jspecify.annotations.Nullable;

/**
 * The way in which a dead letter is put back by {@link Operations#replay}. Immutable: each method returns a copy, and
 * the last call of a method wins. Start from {@link #FRESH}.
 *
 * @param newId true to store a new job and delete the dead letter with its history; false to keep the id
 * @param keepCounters true to go on counting, with one attempt granted if none is left; false to set all counters to 0
 * @param queue another queue; null for the queue of the job
 * @param payload another payload as JSON text; null for the payload of the job
 * @param patch changes to the payload as a JSON merge patch; null for none
 * @since 0.1.0
 */
public record Replay(
        boolean newId,
        boolean keepCounters,
        @Nullable String queue,
        @Nullable String payload,
        @Nullable String patch) {

    /** Keeps id, queue and payload, and sets all counters to 0. */
    public static final Replay FRESH = new Replay(false, false, null, null, null);

    /**
     * Checks the name of the queue, and the patch.
     *
     * @throws IllegalArgumentException if {@code queue} does not have the form of {@link JobSpec#requireName}, if
     *     {@code patch} is not a JSON object, or if there are both a payload and a patch
     */
    public Replay {
        if (queue != null) {
            JobSpec.requireName("queue", queue);
        }
        if (patch != null) {
            JsonMerge.require(patch);
            if (payload != null) {
                throw new IllegalArgumentException("A replay has either a payload or a patch, not both");
            }
        }
    }

    /** Stores a new job with a new id, and deletes the dead letter with its history. The audit log keeps the link. */
    public Replay asNewJob() {
        return new Replay(true, keepCounters, queue, payload, patch);
    }

    /** Keeps the counters of the job. One attempt is granted if none is left. */
    public Replay keepingCounters() {
        return new Replay(newId, true, queue, payload, patch);
    }

    /**
     * Moves the job to another queue. The default is the queue of the job.
     *
     * @throws IllegalArgumentException if {@code name} does not have the form of {@link JobSpec#requireName}
     */
    public Replay toQueue(String name) {
        return new Replay(newId, keepCounters, name, payload, patch);
    }

    /**
     * Replaces the payload, in place of an earlier patch. The default is the payload of the job.
     *
     * @param json JSON text of at most {@value JobSpec#MAX_PAYLOAD_BYTES} bytes. The codec of the process seals it, if
     *     it encrypts
     */
    public Replay withPayload(String json) {
        return new Replay(newId, keepCounters, queue, json, null);
    }

    /**
     * Changes members of the payload, in place of an earlier payload. So many dead letters can be mended alike, each with
     * its own values. A payload that is not a JSON object, or that this process cannot decrypt, is refused.
     *
     * @param mergePatch a JSON merge patch (RFC 7396): an object with the members to set; a member that is null is
     *     removed. Applying it twice is the same as once
     * @throws IllegalArgumentException if this is not a JSON object
     */
    public Replay withPatch(String mergePatch) {
        return new Replay(newId, keepCounters, queue, null, mergePatch);
    }

    /**
     * Returns the payload that a job with this payload has after the replay.
     *
     * @throws IllegalArgumentException if there is a patch and {@code json} is not a JSON object
     */
    public String payloadOf(String json) {
        return payload != null ? payload : patch != null ? JsonMerge.apply(json, patch) : json;
    }
}
