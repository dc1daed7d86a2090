// SPDX-License-Identifier: Apache-2.0
package io.reprise.opentelemetry;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.reprise.insight.TraceParent;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Links from a run to the spans that the tags of its job name. Thread-safe. */
final class TraceLinks {

    private static final Attributes TO_ENQUEUE = Attributes.of(TraceNames.LINK, "enqueue");
    private static final Attributes TO_PREVIOUS = Attributes.of(TraceNames.LINK, "previous-attempt");

    /** A tag and where it leads. */
    private record Known(String tag, SpanContext span, Attributes how) {}

    /** The tag of the latest run. Jobs of one call have the same, and are often run one after another. */
    private volatile @Nullable Known latest;

    void addTo(SpanBuilder run, String tag) {
        Known known = latest;
        if (known == null || !known.tag.equals(tag)) {
            known = read(tag);
            if (known == null) {
                return;
            }
            latest = known;
        }
        run.addLink(known.span, known.how);
    }

    private static @Nullable Known read(String tag) {
        Set<String> only = Set.of(tag);
        Optional<TraceParent> enqueue = TraceParent.in(only);
        return enqueue.or(() -> TraceParent.ofRun(only))
                .map(parent -> new Known(tag, remote(parent), enqueue.isPresent() ? TO_ENQUEUE : TO_PREVIOUS))
                .orElse(null);
    }

    static SpanContext remote(TraceParent parent) {
        return SpanContext.createFromRemoteParent(
                parent.traceId(),
                parent.spanId(),
                parent.isSampled() ? TraceFlags.getSampled() : TraceFlags.getDefault(),
                TraceState.getDefault());
    }
}
