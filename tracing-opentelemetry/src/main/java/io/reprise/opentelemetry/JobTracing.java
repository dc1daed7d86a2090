// SPDX-License-Identifier: Apache-2.0
package io.reprise.opentelemetry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
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
import io.reprise.retry.Decision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
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
 * in a trace of its own, with links to the enqueue and to the attempt before it, whichever process ran that. It ends when
 * the outcome is stored, and carries the decision. The work of a step is a child of its attempt. While a handler runs,
 * {@code trace_id} and {@code span_id} are in the MDC.
 *
 * <p>With a telemetry that never records, such as {@link OpenTelemetry#noop}, it only passes calls on. A run that is not
 * sampled has a current span, but nothing is collected for it. Thread-safe.
 *
 * @since 0.1.0
 */
public final class JobTracing implements JobInterceptor, JobListener {

    private static final String TRACE_ID = "trace_id";
    private static final String SPAN_ID = "span_id";

    /** Transitions that end a run. */
    private static final Set<JobEvent.Kind> ENDS = EnumSet.of(
            JobEvent.Kind.SUCCEEDED,
            JobEvent.Kind.RETRY_SCHEDULED,
            JobEvent.Kind.FAILED,
            JobEvent.Kind.SNOOZED,
            JobEvent.Kind.RELEASED,
            JobEvent.Kind.PARKED,
            JobEvent.Kind.CANCELLED,
            JobEvent.Kind.STALE);

    private final Tracer tracer;

    private final SpanNames sends = new SpanNames("send");
    private final SpanNames runs = new SpanNames("process");
    private final TraceLinks links = new TraceLinks();

    /** False if the telemetry can never record a span. Then nothing is done beside passing calls on. */
    private final boolean records;

    /** Recorded runs whose outcome is not stored yet. */
    private final Map<JobId, OpenRun> open = new ConcurrentHashMap<>();

    /** A time that has passed, in nanoseconds since 1970. Most runs ended before it, so the clock is seldom read. */
    private volatile long passed;

    /**
     * A recorded run whose outcome is not stored yet.
     *
     * @param startedAt nanoseconds since 1970
     */
    private record OpenRun(Span span, long startedAt) implements Supplier<TraceParent> {

        @Override
        public TraceParent get() {
            return traceParent(span.getSpanContext());
        }
    }

    /** Creates an object that records with this telemetry. */
    public JobTracing(OpenTelemetry telemetry) {
        this.tracer = telemetry.getTracer("io.reprise");
        this.records = telemetry.getTracerProvider() != TracerProvider.noop();
    }

    @Override
    @SuppressWarnings("try") // The scope is only to be closed.
    public List<Enqueued> onEnqueue(List<JobSpec> jobs, Storing next) {
        if (jobs.isEmpty()) {
            return next.store(jobs);
        }
        if (!records) {
            return next.store(traced(jobs, Span.current().getSpanContext()));
        }
        Span span = sending(jobs).startSpan();
        try (Scope scope = span.makeCurrent()) {
            List<Enqueued> stored = next.store(traced(jobs, span.getSpanContext()));
            if (stored.size() == 1 && span.isRecording()) {
                span.setAttribute(TraceNames.MESSAGE_ID, stored.get(0).id().toString());
            }
            return stored;
        } catch (RuntimeException e) {
            failed(span, e);
            throw e;
        } finally {
            span.end();
        }
    }

    private static void failed(Span span, Throwable e) {
        span.setStatus(StatusCode.ERROR)
                .setAttribute(TraceNames.ERROR_TYPE, e.getClass().getName());
    }

    private SpanBuilder sending(List<JobSpec> jobs) {
        JobSpec first = jobs.get(0);
        SpanNames.Names names = sends.of(new SpanNames.Kind(first.queue(), first.type(), null, 0, 0, null));
        SpanBuilder span =
                tracer.spanBuilder(names.span()).setSpanKind(SpanKind.PRODUCER).setAllAttributes(names.attributes());
        if (!Span.current().getSpanContext().isValid()) {
            // A request over HTTP brings its trace with the job.
            TraceParent.in(first.tags())
                    .ifPresent(parent -> span.setParent(Context.current().with(Span.wrap(TraceLinks.remote(parent)))));
        }
        return jobs.size() == 1 ? span : span.setAttribute(TraceNames.BATCH, (long) jobs.size());
    }

    private static List<JobSpec> traced(List<JobSpec> jobs, SpanContext context) {
        if (!context.isValid()) {
            return jobs;
        }
        TraceParent parent = traceParent(context);
        List<JobSpec> traced = new ArrayList<>(jobs.size());
        // The tags of a job without others are those of the next one too, and checked once.
        Set<String> alone = null;
        for (JobSpec job : jobs) {
            boolean untagged = job.tags().isEmpty();
            JobSpec added =
                    untagged && alone != null ? job.toBuilder().tags(alone).build() : parent.addTo(job);
            alone = untagged ? added.tags() : alone;
            traced.add(added);
        }
        return traced;
    }

    private static TraceParent traceParent(SpanContext context) {
        return new TraceParent("00-" + context.getTraceId() + "-" + context.getSpanId() + "-"
                + context.getTraceFlags().asHex());
    }

    @Override
    @SuppressWarnings("try") // The scope is only to be closed.
    public void onRun(JobContext context, Handling next) throws Exception {
        if (!records) {
            next.handle();
            return;
        }
        Instant now = Instant.now();
        long startedAt = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
        Span span = processing(context, startedAt);
        SpanContext own = span.getSpanContext();
        // A sampled span records. Only others are asked, because a span locks for the answer.
        if (own.isSampled() || span.isRecording()) {
            OpenRun run = new OpenRun(span, startedAt);
            OpenRun overtaken = open.put(context.id(), run);
            if (overtaken != null) {
                // Its lease was lost, and this process runs the job again.
                overtaken.span.end();
            }
            if (own.isSampled()) {
                context.tracedAs(run);
            }
        }
        MDC.put(TRACE_ID, own.getTraceId());
        MDC.put(SPAN_ID, own.getSpanId());
        try (Scope scope = span.makeCurrent()) {
            next.handle();
        } finally {
            MDC.remove(SPAN_ID);
            MDC.remove(TRACE_ID);
        }
    }

    /** Starts the span of a run. Its attributes are set before the start, because a span that has started locks for each. */
    private Span processing(JobContext context, long startedAt) {
        Job job = context.job();
        SpanNames.Names names = runs.of(new SpanNames.Kind(
                job.queue(),
                job.type(),
                job.spec().resource(),
                context.attempt(),
                job.policy().maxAttempts().toOptional().orElse(0),
                job.status().waitReason()));
        SpanBuilder span = tracer.spanBuilder(names.span())
                .setSpanKind(SpanKind.CONSUMER)
                .setNoParent()
                .setStartTimestamp(startedAt, TimeUnit.NANOSECONDS)
                .setAllAttributes(names.attributes())
                .setAttribute(TraceNames.MESSAGE_ID, context.id().toString());
        for (String tag : job.spec().tags()) {
            links.addTo(span, tag);
        }
        return span.startSpan();
    }

    /** A step is a child of its run, whichever thread does its work. */
    @Override
    @SuppressWarnings("try") // The scope is only to be closed.
    public <T extends @Nullable Object> T onStep(JobContext job, String step, Callable<T> next) throws Exception {
        OpenRun run = open.get(job.id());
        if (run == null) {
            return next.call();
        }
        SpanBuilder builder = tracer.spanBuilder("step " + step).setAttribute(TraceNames.STEP, step);
        if (!Span.current().getSpanContext().isValid()) {
            builder.setParent(Context.current().with(run.span));
        }
        Span span = builder.startSpan();
        try (Scope scope = span.makeCurrent()) {
            return next.call();
        } catch (Throwable e) {
            failed(span, e);
            throw e;
        } finally {
            span.end();
        }
    }

    @Override
    public boolean listensTo(JobEvent.Kind kind) {
        return records && ENDS.contains(kind);
    }

    /** Ends the span of a run whose outcome is stored. */
    @Override
    public void onEvent(JobEvent event) {
        if (!ENDS.contains(event.kind())) {
            return;
        }
        OpenRun run = open.remove(event.id());
        if (run != null) {
            describe(run.span, event);
            end(run, event.ran());
        }
    }

    /** Ends the span when the handler ended, which is before its outcome was stored. */
    private void end(OpenRun run, @Nullable Duration ran) {
        if (ran == null) {
            run.span.end();
            return;
        }
        long end = run.startedAt + ran.toNanos();
        if (end > passed) {
            // A clock of tests may be ahead of that of spans.
            long latest = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis() + 1);
            passed = latest;
            end = Math.min(end, latest);
        }
        run.span.end(end, TimeUnit.NANOSECONDS);
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
