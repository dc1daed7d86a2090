// SPDX-License-Identifier: Apache-2.0
package io.reprise.opentelemetry;

import io.opentelemetry.api.common.Attributes;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Names and constant attributes of the spans of one operation. Made once, because every job has a span. Thread-safe. */
final class SpanNames {

    /** Beyond this number all names are dropped: users can create any number of queues. */
    private static final int MAX = 1_000;

    /**
     * The common part of all spans of a queue and a type.
     *
     * @param span name of the spans
     * @param attributes those that a sampler may want to know
     */
    record Names(String span, Attributes attributes) {}

    private record Place(String queue, String type) {}

    private final String operation;
    private final Map<Place, Names> known = new ConcurrentHashMap<>();

    SpanNames(String operation) {
        this.operation = operation;
    }

    Names of(String queue, String type) {
        Place place = new Place(queue, type);
        Names names = known.get(place);
        if (names == null) {
            names = make(place);
            if (known.size() >= MAX) {
                known.clear();
            }
            known.put(place, names);
        }
        return names;
    }

    private Names make(Place place) {
        return new Names(
                operation + " " + place.queue,
                Attributes.builder()
                        .put(TraceNames.SYSTEM, TraceNames.SYSTEM_VALUE)
                        .put(TraceNames.OPERATION, operation)
                        .put(TraceNames.OPERATION_TYPE, operation)
                        .put(TraceNames.DESTINATION, place.queue)
                        .put(TraceNames.JOB_TYPE, place.type)
                        .build());
    }
}
