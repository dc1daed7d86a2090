// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.delivery;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Spans of outgoing calls, as children of the attempt that makes them. The receiver gets the trace of the span. With a
 * telemetry that never records, calls are passed on as they are. Thread-safe.
 */
final class CallSpans {

    // Names of the semantic conventions for HTTP. There is no path: receivers have secrets in theirs.
    private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");
    private static final AttributeKey<Long> STATUS = AttributeKey.longKey("http.response.status_code");
    private static final AttributeKey<String> HOST = AttributeKey.stringKey("server.address");
    private static final AttributeKey<Long> PORT = AttributeKey.longKey("server.port");
    private static final AttributeKey<String> SCHEME = AttributeKey.stringKey("url.scheme");
    private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

    private static final int FIRST_ERROR = 400;

    private final Tracer tracer;
    private final boolean records;

    CallSpans(OpenTelemetry telemetry) {
        this.tracer = telemetry.getTracer("io.reprise");
        this.records = telemetry.getTracerProvider() != TracerProvider.noop();
    }

    /** Makes a call in a span that is a child of the current one, and ends with the call. */
    CompletableFuture<OutboundAnswer> around(
            OutboundCall call, Function<OutboundCall, CompletableFuture<OutboundAnswer>> send) {
        if (!records) {
            return send.apply(call);
        }
        Span span = tracer.spanBuilder(call.method())
                .setSpanKind(SpanKind.CLIENT)
                .setAttribute(METHOD, call.method())
                .setAttribute(HOST, String.valueOf(call.uri().getHost()))
                .setAttribute(PORT, (long) OutboundGuard.port(call.uri()))
                .setAttribute(SCHEME, String.valueOf(call.uri().getScheme()).toLowerCase(Locale.ROOT))
                .startSpan();
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.putAll(call.headers());
        W3CTraceContextPropagator.getInstance().inject(Context.current().with(span), headers, CallSpans::put);
        return send.apply(
                        new OutboundCall(call.method(), call.uri(), headers, call.body(), call.limit(), call.tenant()))
                .whenComplete((answer, failure) -> end(span, answer, failure));
    }

    private static void put(@Nullable Map<String, String> headers, String name, String value) {
        if (headers != null) {
            headers.put(name, value);
        }
    }

    private static void end(Span span, @Nullable OutboundAnswer answer, @Nullable Throwable failure) {
        if (answer != null) {
            span.setAttribute(STATUS, (long) answer.status());
            if (answer.status() >= FIRST_ERROR) {
                span.setStatus(StatusCode.ERROR).setAttribute(ERROR, Integer.toString(answer.status()));
            }
        } else if (failure != null) {
            span.setStatus(StatusCode.ERROR)
                    .setAttribute(ERROR, failure.getClass().getName());
        }
        span.end();
    }
}
