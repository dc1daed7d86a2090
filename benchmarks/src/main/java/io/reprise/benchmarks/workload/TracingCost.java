// SPDX-License-Identifier: Apache-2.0
package io.reprise.benchmarks.workload;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.reprise.RepriseBuilder;
import io.reprise.benchmarks.measure.Statistics;
import io.reprise.benchmarks.measure.Target;
import io.reprise.benchmarks.report.Figure;
import io.reprise.benchmarks.system.Installation;
import io.reprise.benchmarks.system.RepriseSystem;
import io.reprise.opentelemetry.JobTracing;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** W2 without tracing, with tracing that records nothing, and with tracing, turn by turn. */
public final class TracingCost implements RepriseWorkload {

    private static final int JOBS = 100_000;
    private static final int TURNS = 5;

    /** One way to trace, and its drains so far. */
    private record Way(String name, UnaryOperator<RepriseBuilder> settings, List<Drained> turns) {

        Way(String name, UnaryOperator<RepriseBuilder> settings) {
            this(name, settings, new ArrayList<>());
        }
    }

    @Override
    public String name() {
        return "tracing";
    }

    @Override
    public String title() {
        return "drain 100,000 jobs without tracing, with tracing off and on";
    }

    @Override
    public List<Figure> measure(Trial trial) throws Exception {
        trial.warmUp(0);
        int jobs = trial.sizes().jobs(JOBS);
        try (OpenTelemetrySdk sdk = sdk()) {
            List<Way> ways = List.of(
                    new Way("tracing-none", UnaryOperator.identity()),
                    new Way("tracing-off", traced(OpenTelemetry.noop())),
                    new Way("tracing-on", traced(sdk)));
            List<Way> order = new ArrayList<>(ways);
            for (int turn = 0; turn < TURNS; turn++) {
                for (Way way : order) {
                    way.turns.add(drained(trial, way.settings, jobs));
                }
                // What came before a drain must not be the same in each turn.
                Collections.rotate(order, 1);
            }
            return ways.stream().map(way -> figure(way.name, way.turns)).toList();
        }
    }

    private static UnaryOperator<RepriseBuilder> traced(OpenTelemetry telemetry) {
        return builder -> {
            JobTracing tracing = new JobTracing(telemetry);
            return builder.interceptor(tracing).listener(tracing);
        };
    }

    private static Drained drained(Trial trial, UnaryOperator<RepriseBuilder> more, int jobs) throws Exception {
        Target target = trial.install();
        try (Installation installation = RepriseSystem.open(target, more)) {
            return trial.drain(target, installation, jobs, 0);
        }
    }

    private static Figure figure(String name, List<Drained> turns) {
        Map<String, Double> values = new LinkedHashMap<>();
        values.put(
                Figure.RATE, Statistics.median(turns.stream().map(Drained::rate).toList()));
        for (String cpu : turns.get(0).cpu().keySet()) {
            values.put(
                    cpu,
                    Statistics.median(turns.stream()
                            .map(turn -> turn.cpu().getOrDefault(cpu, 0.0))
                            .toList()));
        }
        return new Figure(name, values);
    }

    private static OpenTelemetrySdk sdk() {
        return OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(
                                BatchSpanProcessor.builder(new Dropping()).build())
                        .build())
                .build();
    }

    /** Takes every batch and sends it nowhere. */
    private static final class Dropping implements SpanExporter {

        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }
}
