// SPDX-License-Identifier: Apache-2.0
package io.reprise.opentelemetry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.reprise.JobContext;
import io.reprise.JobInterceptor;
import io.reprise.JobListener;
import io.reprise.failure.Failure;
import io.reprise.insight.JobEvent;
import io.reprise.insight.TraceParent;
import io.reprise.job.Enqueued;
import io.reprise.job.Job;
import io.reprise.job.JobId;
import io.reprise.job.JobSpec;
import io.reprise.job.WaitReason;
import io.reprise.retry.Decision;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.MDC;

/**
 * Spans for the jobs that this process enqueues and runs. Add one object both as interceptor and as listener:
 *
 * <pre>{@code
 * JobTracing tracing = new JobTracing(openTelemetry);
 * Reprise.builder().interceptor(tracing).listener(tracing)...
 * }</pre>
 *
 * <p>Enqueueing is a span {@code send <queue>} in the trace of the caller. Each attempt is a span {@code process <queue>}
 * in a trace of its own, with links to the enqueue and to the attempt before it. It ends when the outcome is stored, and
 * carries the decision. The link to the attempt before is there if this process ran that attempt, and not too many
 * others since. While a handler runs, {@code trace_id} and {@code span_id} are in the MDC. Thread-safe.
 *
 * @since 0.1.0
 */
public final class JobTracing implements JobInterceptor, JobListener {

    private static final String TRACE_ID = "trace_id";
    private static final String SPAN_ID = "span_id";

    private final Tracer tracer;
    private final Map<JobId, OpenRun> open = new ConcurrentHashMap<>();
    private final RecentSpans previous = new RecentSpans();

    /** A run whose outcome is not stored yet. */
    private static final class OpenRun {
        private final Span span;
        private volatile Instant handledAt = Instant.MIN;

        OpenRun(Span span) {
            this.span = span;
        }

        void end() {
            if (handledAt.equals(Instant.MIN)) {
                span.end();
            } else {
                span.end(handledAt);
            }
        }
    }

    /** Creates an object that records with this telemetry. */
    public JobTracing(OpenTelemetry telemetry) {
        this.tracer = telemetry.getTracer("io.reprise");
    }

    @Override
    @SuppressWarnings("try") // The scope is only to be closed.
    public List<Enqueued> onEnqueue(List<JobSpec> jobs, Storing next) {
        if (jobs.isEmpty()) {
            return next.store(jobs);
        }
        Span span = sending(jobs).startSpan();
        try (Scope scope = span.makeCurrent()) {
            List<Enqueued> stored = next.store(traced(jobs, span.getSpanContext()));
            if (stored.size() == 1) {
                span.setAttribute(TraceNames.MESSAGE_ID, stored.get(0).id().toString());
            }
            return stored;
        } catch (RuntimeException e) {
            span.setStatus(StatusCode.ERROR)
                    .setAttribute(TraceNames.ERROR_TYPE, e.getClass().getName());
            throw e;
        } finally {
            span.end();
        }
    }

    private SpanBuilder sending(List<JobSpec> jobs) {
        JobSpec first = jobs.get(0);
        SpanBuilder span =
                named("send", first.queue(), SpanKind.PRODUCER).setAttribute(TraceNames.JOB_TYPE, first.type());
        return jobs.size() == 1 ? span : span.setAttribute(TraceNames.BATCH, (long) jobs.size());
    }

    private SpanBuilder named(String operation, String queue, SpanKind kind) {
        return tracer.spanBuilder(operation + " " + queue)
                .setSpanKind(kind)
                .setAttribute(TraceNames.SYSTEM, TraceNames.SYSTEM_VALUE)
                .setAttribute(TraceNames.OPERATION, operation)
                .setAttribute(TraceNames.OPERATION_TYPE, operation)
                .setAttribute(TraceNames.DESTINATION, queue);
    }

    private static List<JobSpec> traced(List<JobSpec> jobs, SpanContext context) {
        if (!context.isValid()) {
            return jobs;
        }
        TraceParent parent = new TraceParent("00-" + context.getTraceId() + "-" + context.getSpanId() + "-"
                + context.getTraceFlags().asHex());
        return jobs.stream().map(parent::addTo).toList();
    }

    @Override
    @SuppressWarnings("try") // The scope is only to be closed.
    public void onRun(JobContext context, Handling next) throws Exception {
        OpenRun run = new OpenRun(processing(context).startSpan());
        OpenRun overtaken = open.put(context.id(), run);
        if (overtaken != null) {
            // Its lease was lost, and this process runs the job again.
            overtaken.end();
        }
        SpanContext own = run.span.getSpanContext();
        try (Scope scope = run.span.makeCurrent();
                MDC.MDCCloseable trace = MDC.putCloseable(TRACE_ID, own.getTraceId());
                MDC.MDCCloseable id = MDC.putCloseable(SPAN_ID, own.getSpanId())) {
            next.handle();
        } finally {
            run.handledAt = Instant.now();
        }
    }

    private SpanBuilder processing(JobContext context) {
        Job job = context.job();
        SpanBuilder span = named("process", job.queue(), SpanKind.CONSUMER)
                .setNoParent()
                .setAttribute(TraceNames.MESSAGE_ID, job.id().toString())
                .setAttribute(TraceNames.JOB_TYPE, job.type())
                .setAttribute(TraceNames.ATTEMPT, (long) context.attempt());
        job.policy()
                .maxAttempts()
                .toOptional()
                .ifPresent(max -> span.setAttribute(TraceNames.MAX_ATTEMPTS, (long) max));
        if (job.spec().resource() != null) {
            span.setAttribute(TraceNames.RESOURCE, job.spec().resource());
        }
        WaitReason reason = job.status().waitReason();
        if (reason != null) {
            span.setAttribute(TraceNames.WAIT_REASON, reason.name());
            span.setAttribute(TraceNames.PROBE, reason == WaitReason.BREAKER);
        }
        TraceParent.in(job.spec().tags()).ifPresent(parent -> link(span, remote(parent), "enqueue"));
        SpanContext before = previous.of(job.id());
        if (before != null) {
            link(span, before, "previous-attempt");
        }
        return span;
    }

    private static void link(SpanBuilder span, SpanContext to, String what) {
        span.addLink(to, Attributes.of(TraceNames.LINK, what));
    }

    private static SpanContext remote(TraceParent parent) {
        return SpanContext.createFromRemoteParent(
                parent.traceId(),
                parent.spanId(),
                parent.isSampled() ? TraceFlags.getSampled() : TraceFlags.getDefault(),
                TraceState.getDefault());
    }

    /** Ends the span of a run whose outcome is stored. */
    @Override
    public void onEvent(JobEvent event) {
        switch (event.kind()) {
            case ENQUEUED, STARTED, LOST, REQUEUED, DISCARDED -> {}
            default -> settled(event);
        }
    }

    private void settled(JobEvent event) {
        OpenRun run = open.remove(event.id());
        if (run != null) {
            describe(run.span, event);
            run.end();
        }
        boolean over = event.kind() == JobEvent.Kind.SUCCEEDED
                || event.kind() == JobEvent.Kind.FAILED
                || event.kind() == JobEvent.Kind.CANCELLED;
        if (over) {
            previous.forget(event.id());
        } else if (run != null) {
            previous.keep(event.id(), run.span.getSpanContext());
        }
    }

    private static void describe(Span span, JobEvent event) {
        span.setAttribute(TraceNames.OUTCOME, event.kind().name());
        Decision decision = event.decision();
        if (decision != null) {
            span.setAttribute(TraceNames.RULE, decision.rule());
        }
        if (decision instanceof Decision.Retry retry) {
            span.setAttribute(TraceNames.FAILURE_CLASS, retry.failureClass().name());
            span.setAttribute(TraceNames.DELAY_SECONDS, retry.delay().toNanos() / 1e9);
        } else if (decision instanceof Decision.Fail fail) {
            span.setAttribute(TraceNames.FAILURE_CLASS, fail.failureClass().name());
            span.setAttribute(TraceNames.FAIL_REASON, fail.reason().name());
        }
        if (event.dueAt() != null) {
            span.setAttribute(TraceNames.NEXT_AT, event.dueAt().toString());
        }
        Failure failure = event.failure();
        if (failure != null) {
            span.setStatus(StatusCode.ERROR, failure.message() == null ? "" : failure.message());
            span.setAttribute(TraceNames.ERROR_TYPE, failure.type());
            span.setAttribute(TraceNames.FINGERPRINT, failure.fingerprint());
        }
    }
}
