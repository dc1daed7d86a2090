// SPDX-License-Identifier: Apache-2.0
package io.reprise.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import io.reprise.JobType;
import io.reprise.ManualRetry;
import io.reprise.Reprise;
import io.reprise.insight.JobEvent;
import io.reprise.insight.TraceParent;
import io.reprise.job.JobId;
import io.reprise.job.JobQuery;
import io.reprise.job.JobSpec;
import io.reprise.job.JobState;
import io.reprise.retry.RetryPolicy;
import io.reprise.testing.InMemoryJobStore;
import io.reprise.testing.InlineWorker;
import io.reprise.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

class JobTracingTest {

    private static final JobType<String> WORK = JobType.of("work", String.class);

    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final SdkTracerProvider provider = SdkTracerProvider.builder()
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build();
    private final OpenTelemetry telemetry =
            OpenTelemetrySdk.builder().setTracerProvider(provider).build();
    private final JobTracing tracing = new JobTracing(telemetry);
    private final List<String> inHandler = new ArrayList<>();
    private final ManualClock clock = new ManualClock();

    private InlineWorker worker(int failures) {
        return InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .interceptor(tracing)
                        .listener(tracing)
                        .retry(RetryPolicy.fixed(Duration.ofSeconds(10)).maxAttempts(3))
                        .handle(WORK, (text, job) -> {
                            inHandler.add(Span.current().getSpanContext().getTraceId() + " " + MDC.get("trace_id"));
                            if (job.attempt() <= failures) {
                                throw new IllegalStateException("attempt " + job.attempt());
                            }
                        }),
                clock);
    }

    /** A worker with a tracing of its own, as another process has. */
    private InlineWorker process(InMemoryJobStore store, int failures) {
        JobTracing own = new JobTracing(telemetry);
        return InlineWorker.start(
                Reprise.builder()
                        .store(store)
                        .interceptor(own)
                        .listener(own)
                        .retry(RetryPolicy.fixed(Duration.ofSeconds(10)).maxAttempts(2))
                        .handle(WORK, (text, job) -> {
                            if (job.attempt() <= failures) {
                                throw new IllegalStateException("attempt " + job.attempt());
                            }
                        }),
                clock);
    }

    @AfterEach
    void close() {
        provider.close();
    }

    private List<SpanData> spans(String name) {
        return exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals(name))
                .toList();
    }

    private static Map<String, String> links(SpanData span) {
        return span.getLinks().stream()
                .collect(Collectors.toMap(
                        link -> link.getAttributes().get(TraceNames.LINK),
                        (LinkData link) -> link.getSpanContext().getSpanId()));
    }

    @Test
    void each_attempt_is_a_trace_of_its_own_that_links_to_the_enqueue_and_to_the_attempt_before() {
        Span request = telemetry.getTracer("test").spanBuilder("request").startSpan();
        JobId id;
        try (InlineWorker worker = worker(1)) {
            try (Scope scope = request.makeCurrent()) {
                id = worker.reprise().enqueue(WORK.job("x").resource("api"));
            }
            worker.advance(Duration.ofMinutes(1));
        }
        SpanData sent = spans("send default").get(0);
        List<SpanData> runs = spans("process default");
        assertThat(sent.getTraceId()).isEqualTo(request.getSpanContext().getTraceId());
        assertThat(sent.getKind()).isEqualTo(SpanKind.PRODUCER);
        assertThat(sent.getAttributes().get(TraceNames.MESSAGE_ID)).isEqualTo(id.toString());
        assertThat(runs).hasSize(2).allSatisfy(run -> {
            assertThat(run.getKind()).isEqualTo(SpanKind.CONSUMER);
            assertThat(run.getParentSpanId()).isEqualTo("0000000000000000");
            assertThat(links(run)).containsEntry("enqueue", sent.getSpanId());
            assertThat(run.getAttributes().get(TraceNames.RESOURCE)).isEqualTo("api");
            assertThat(run.getAttributes().get(TraceNames.MAX_ATTEMPTS)).isEqualTo(3);
        });
        assertThat(Set.of(
                        sent.getTraceId(), runs.get(0).getTraceId(), runs.get(1).getTraceId()))
                .hasSize(3);
        assertThat(links(runs.get(1)))
                .containsEntry("previous-attempt", runs.get(0).getSpanId());
        assertThat(inHandler.get(0))
                .isEqualTo(runs.get(0).getTraceId() + " " + runs.get(0).getTraceId());
        assertThat(MDC.get("trace_id")).isNull();
    }

    @Test
    void an_attempt_links_to_the_attempt_before_it_that_another_process_ran() {
        InMemoryJobStore store = new InMemoryJobStore(clock);
        JobId id;
        try (InlineWorker first = process(store, 9)) {
            id = first.reprise().enqueue(WORK.job("x").tags("own"));
            first.advance(Duration.ofSeconds(1));
        }
        try (InlineWorker second = process(store, 9)) {
            second.advance(Duration.ofSeconds(10));
        }
        try (InlineWorker third = process(store, 0)) {
            third.reprise().as("tester", null).retry(id, ManualRetry.NOW.forced());
            third.advance(Duration.ofMinutes(1));
            assertThat(third.reprise().find(id).orElseThrow().state()).isEqualTo(JobState.SUCCEEDED);
        }
        List<SpanData> runs = spans("process default");
        assertThat(runs).hasSize(3);
        assertThat(links(runs.get(0))).containsOnlyKeys("enqueue");
        for (int i = 1; i < 3; i++) {
            assertThat(links(runs.get(i)))
                    .containsEntry("previous-attempt", runs.get(i - 1).getSpanId())
                    .containsEntry("enqueue", spans("send default").get(0).getSpanId());
        }
    }

    @Test
    void the_trace_of_a_run_is_no_tag_beyond_those_that_a_job_may_have_and_a_success_leaves_none() {
        try (InlineWorker worker = worker(1)) {
            String[] tags = IntStream.range(0, JobSpec.MAX_TAGS - 1)
                    .mapToObj(n -> "tag-" + n)
                    .toArray(String[]::new);
            JobId full = worker.reprise().enqueue(WORK.job("x").tags(tags));
            worker.advance(Duration.ofMinutes(1));
            assertThat(worker.reprise().find(full).orElseThrow().spec().tags())
                    .hasSize(JobSpec.MAX_TAGS)
                    .noneMatch(tag -> tag.startsWith("run:"));
        }
        try (InlineWorker worker = worker(0)) {
            JobId good = worker.reprise().enqueue(WORK.job("x"));
            worker.advance(Duration.ofMinutes(1));
            assertThat(worker.reprise().find(good).orElseThrow().spec().tags())
                    .noneMatch(tag -> tag.startsWith("run:"));
        }
    }

    @Test
    void a_span_carries_the_decision_that_followed() {
        try (InlineWorker worker = worker(3)) {
            worker.reprise().enqueue(WORK.job("x"));
            worker.advance(Duration.ofMinutes(1));
        }
        List<SpanData> runs = spans("process default");
        assertThat(runs).hasSize(3);
        assertThat(runs.get(0).getAttributes().get(TraceNames.OUTCOME)).isEqualTo("RETRY_SCHEDULED");
        assertThat(runs.get(0).getAttributes().get(TraceNames.FAILURE_CLASS)).isEqualTo("TRANSIENT");
        assertThat(runs.get(0).getAttributes().get(TraceNames.NEXT_AT)).isNotNull();
        assertThat(runs.get(0).getAttributes().get(TraceNames.ERROR_TYPE))
                .isEqualTo(IllegalStateException.class.getName());
        assertThat(runs.get(0).getAttributes().get(TraceNames.FINGERPRINT)).isNotEmpty();
        assertThat(runs.get(2).getAttributes().get(TraceNames.OUTCOME)).isEqualTo("FAILED");
        assertThat(runs.get(2).getAttributes().get(TraceNames.FAIL_REASON)).isEqualTo("EXHAUSTED");
        assertThat(runs.get(2).getAttributes().get(TraceNames.ATTEMPT)).isEqualTo(3);
    }

    @Test
    void jobs_are_found_by_their_trace_and_a_batch_has_one_span() {
        try (InlineWorker worker = worker(0)) {
            worker.reprise().enqueueAll(List.of(WORK.job("a"), WORK.job("b")));
            SpanData sent = spans("send default").get(0);
            assertThat(sent.getAttributes().get(TraceNames.BATCH)).isEqualTo(2);
            String tag = "trace:00-" + sent.getTraceId() + "-" + sent.getSpanId() + "-01";
            assertThat(worker.reprise().find(JobQuery.all().tag(tag)).items()).hasSize(2);
        }
    }

    @Test
    void a_job_with_all_tags_that_it_may_have_keeps_them() {
        String[] tags =
                IntStream.range(0, JobSpec.MAX_TAGS).mapToObj(n -> "tag-" + n).toArray(String[]::new);
        try (InlineWorker worker = worker(0)) {
            JobId id = worker.reprise().enqueue(WORK.job("a").tags(tags));
            worker.advance(Duration.ofMinutes(1));
            assertThat(worker.reprise().find(id).orElseThrow().spec().tags()).containsExactlyInAnyOrder(tags);
        }
        assertThat(spans("process default").get(0).getLinks()).isEmpty();
    }

    @Test
    void work_of_a_step_is_a_child_of_its_attempt_and_a_step_that_is_stored_has_no_span() {
        InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .interceptor(tracing)
                        .listener(tracing)
                        .retry(RetryPolicy.fixed(Duration.ofSeconds(10)).maxAttempts(3))
                        .handle(WORK, (text, job) -> {
                            job.step("first", () -> inHandler.add("first"));
                            job.step("second", () -> {
                                if (job.attempt() == 1) {
                                    throw new IllegalStateException("not yet");
                                }
                            });
                        }),
                clock);
        try (worker) {
            worker.reprise().enqueue(WORK.job("x"));
            worker.advance(Duration.ofMinutes(1));
        }
        List<SpanData> runs = spans("process default");
        SpanData first = spans("step first").get(0);
        List<SpanData> second = spans("step second");
        assertThat(inHandler).hasSize(1);
        assertThat(spans("step first")).hasSize(1);
        assertThat(first.getParentSpanId()).isEqualTo(runs.get(0).getSpanId());
        assertThat(first.getTraceId()).isEqualTo(runs.get(0).getTraceId());
        assertThat(first.getAttributes().get(TraceNames.STEP)).isEqualTo("first");
        assertThat(second).hasSize(2);
        assertThat(second.get(0).getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(second.get(0).getAttributes().get(TraceNames.ERROR_TYPE))
                .isEqualTo(IllegalStateException.class.getName());
        assertThat(second.get(1).getParentSpanId()).isEqualTo(runs.get(1).getSpanId());
    }

    @Test
    void progress_does_not_end_the_span_of_a_run() {
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .interceptor(tracing)
                        .listener(tracing)
                        .handle(WORK, (text, job) -> {
                            job.progress(50, "half");
                            inHandler.add(spans("process default").size() + " ended");
                        }),
                clock)) {
            worker.reprise().enqueue(WORK.job("x"));
            worker.advance(Duration.ofMinutes(1));
        }
        assertThat(inHandler).containsExactly("0 ended");
        assertThat(spans("process default").get(0).getAttributes().get(TraceNames.OUTCOME))
                .isEqualTo("SUCCEEDED");
    }

    /** A handler may move the clock of a test by hours. The time of its span is that of the machine. */
    @Test
    void the_span_of_a_run_does_not_end_in_the_future() {
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .interceptor(tracing)
                        .listener(tracing)
                        .handle(WORK, (text, job) -> clock.advance(Duration.ofDays(1))),
                clock)) {
            worker.reprise().enqueue(WORK.job("x"));
            worker.advance(Duration.ofMinutes(1));
        }
        SpanData run = spans("process default").get(0);
        assertThat(run.getStartEpochNanos()).isPositive().isLessThanOrEqualTo(run.getEndEpochNanos());
        assertThat(Instant.ofEpochSecond(0, run.getEndEpochNanos()))
                .isBefore(Instant.now().plus(Duration.ofHours(1)));
    }

    @Test
    void a_telemetry_that_never_records_makes_no_event_and_leaves_the_job_alone() {
        JobTracing off = new JobTracing(OpenTelemetry.noop());
        assertThat(JobEvent.Kind.values()).noneMatch(off::listensTo);
        try (InlineWorker worker = InlineWorker.start(
                Reprise.builder()
                        .store(new InMemoryJobStore(clock))
                        .interceptor(off)
                        .listener(off)
                        .handle(WORK, (text, job) -> inHandler.add(String.valueOf(MDC.get("trace_id")))),
                clock)) {
            JobId id = worker.reprise().enqueue(WORK.job("x"));
            worker.advance(Duration.ofMinutes(1));
            assertThat(worker.reprise().find(id).orElseThrow().spec().tags()).isEmpty();
        }
        assertThat(inHandler).containsExactly("null");
    }

    @Test
    void a_run_that_is_not_sampled_leaves_nothing_behind() {
        try (SdkTracerProvider never = SdkTracerProvider.builder()
                .setSampler(Sampler.alwaysOff())
                .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                .build()) {
            JobTracing off = new JobTracing(
                    OpenTelemetrySdk.builder().setTracerProvider(never).build());
            try (InlineWorker worker = InlineWorker.start(
                    Reprise.builder()
                            .store(new InMemoryJobStore(clock))
                            .interceptor(off)
                            .listener(off)
                            .retry(RetryPolicy.fixed(Duration.ofSeconds(10)).maxAttempts(3))
                            .handle(WORK, (text, job) -> {
                                inHandler.add(String.valueOf(MDC.get("trace_id")));
                                if (job.attempt() < 3) {
                                    throw new IllegalStateException("again");
                                }
                            }),
                    clock)) {
                worker.reprise().enqueue(WORK.job("x"));
                worker.advance(Duration.ofMinutes(5));
            }
            // Before the provider is closed, which would empty the exporter.
            assertThat(exporter.getFinishedSpanItems()).isEmpty();
        }
        assertThat(inHandler).hasSize(3).doesNotContain("null");
    }

    /** Records retries only. */
    private static final class RetriesOnly implements Sampler {

        @Override
        public SamplingResult shouldSample(
                Context parent,
                String traceId,
                String name,
                SpanKind kind,
                Attributes attributes,
                List<LinkData> links) {
            Long attempt = attributes.get(TraceNames.ATTEMPT);
            return attempt != null && attempt > 1 ? SamplingResult.recordAndSample() : SamplingResult.drop();
        }

        @Override
        public String getDescription() {
            return "retries only";
        }
    }

    @Test
    void a_sampler_knows_which_attempt_it_is() {
        try (SdkTracerProvider some = SdkTracerProvider.builder()
                .setSampler(new RetriesOnly())
                .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                .build()) {
            JobTracing own = new JobTracing(
                    OpenTelemetrySdk.builder().setTracerProvider(some).build());
            try (InlineWorker worker = InlineWorker.start(
                    Reprise.builder()
                            .store(new InMemoryJobStore(clock))
                            .interceptor(own)
                            .listener(own)
                            .retry(RetryPolicy.fixed(Duration.ofSeconds(10)).maxAttempts(3))
                            .handle(WORK, (text, job) -> {
                                throw new IllegalStateException("again");
                            }),
                    clock)) {
                worker.reprise().enqueue(WORK.job("x"));
                worker.advance(Duration.ofMinutes(5));
            }
            assertThat(exporter.getFinishedSpanItems())
                    .extracting(span -> span.getAttributes().get(TraceNames.ATTEMPT))
                    .containsExactly(2L, 3L);
        }
    }

    @Test
    void a_trace_that_came_with_a_request_goes_on_in_the_span_that_sends() {
        String caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        try (InlineWorker worker = worker(0)) {
            worker.reprise().enqueue(WORK.job("x").tags("trace:" + caller));
        }
        SpanData sent = spans("send default").get(0);
        assertThat(sent.getTraceId()).isEqualTo("4bf92f3577b34da6a3ce929d0e0e4736");
        assertThat(sent.getParentSpanId()).isEqualTo("00f067aa0ba902b7");
    }

    @Test
    void a_header_that_is_no_trace_is_ignored() {
        String good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assertThat(TraceParent.read(good)).map(TraceParent::isSampled).contains(true);
        assertThat(List.of(
                        "",
                        "00",
                        good + "-x",
                        good.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0".repeat(32)),
                        good.toUpperCase(java.util.Locale.ROOT)))
                .allSatisfy(text -> assertThat(TraceParent.read(text)).isEmpty());
    }
}
