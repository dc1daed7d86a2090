// SPDX-License-Identifier: Apache-2.0
package io.reprise.opentelemetry;

import io.opentelemetry.api.trace.SpanContext;
import io.reprise.job.JobId;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The spans of the latest attempts of this process, a bounded number of them. Thread-safe. */
final class RecentSpans {

    private static final int MAX = 10_000;

    private final Map<JobId, SpanContext> spans = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<JobId, SpanContext> eldest) {
            return size() > MAX;
        }
    };

    synchronized void keep(JobId id, SpanContext span) {
        spans.remove(id);
        spans.put(id, span);
    }

    synchronized void forget(JobId id) {
        spans.remove(id);
    }

    synchronized @Nullable SpanContext of(JobId id) {
        return spans.get(id);
    }
}
