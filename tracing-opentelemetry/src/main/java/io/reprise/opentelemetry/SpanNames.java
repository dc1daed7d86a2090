// SPDX-License-Identifier: Apache-2.0
package io.reprise.opentelemetry;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.reprise.job.WaitReason;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Names and attributes of the spans of one operation that many jobs have in common. Made once, because every job has a
 * span. Thread-safe.
 */
final class SpanNames {

    /** Beyond this number all names are dropped: users can create any number of queues. */
    private static final int MAX = 1_000;

    /**
     * The common part of all spans of a kind.
     *
     * @param kind what the spans have in common
     * @param span name of the spans
     * @param attributes those that a sampler may want to know
     */
    record Names(Kind kind, String span, Attributes attributes) {}

    /**
     * Values that many jobs have in common.
     *
     * @param attempt number of the attempt; 0 for an enqueue
     * @param maxAttempts attempts at most; 0 if they are not limited
     * @param reason why the job had waited; null if it had not
     */
    record Kind(
            String queue,
            String type,
            @Nullable String resource,
            int attempt,
            int maxAttempts,
            @Nullable WaitReason reason) {}

    private final String operation;
    private final Map<Kind, Names> known = new ConcurrentHashMap<>();

    /** Those that were asked for last. Jobs of a kind are often run one after another. */
    private volatile @Nullable Names latest;

    SpanNames(String operation) {
        this.operation = operation;
    }

    Names of(Kind kind) {
        Names names = latest;
        if (names != null && names.kind.equals(kind)) {
            return names;
        }
        names = known.get(kind);
        if (names == null) {
            names = make(kind);
            if (known.size() >= MAX) {
                known.clear();
            }
            known.put(kind, names);
        }
        latest = names;
        return names;
    }

    private Names make(Kind kind) {
        AttributesBuilder attributes = Attributes.builder()
                .put(TraceNames.SYSTEM, TraceNames.SYSTEM_VALUE)
                .put(TraceNames.OPERATION, operation)
                .put(TraceNames.OPERATION_TYPE, operation)
                .put(TraceNames.DESTINATION, kind.queue)
                .put(TraceNames.JOB_TYPE, kind.type);
        if (kind.resource != null) {
            attributes.put(TraceNames.RESOURCE, kind.resource);
        }
        if (kind.attempt > 0) {
            attributes.put(TraceNames.ATTEMPT, (long) kind.attempt);
        }
        if (kind.maxAttempts > 0) {
            attributes.put(TraceNames.MAX_ATTEMPTS, (long) kind.maxAttempts);
        }
        if (kind.reason != null) {
            attributes
                    .put(TraceNames.WAIT_REASON, kind.reason.name())
                    .put(TraceNames.PROBE, kind.reason == WaitReason.BREAKER);
        }
        return new Names(kind, operation + " " + kind.queue, attributes.build());
    }
}
