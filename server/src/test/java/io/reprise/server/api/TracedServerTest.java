// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server in a process that has an OpenTelemetry, as its Java agent would give it. */
class TracedServerTest {

    /** What the receiver answers on a path, if not 200. */
    private static final Map<String, Integer> STATUS = Map.of("/moved", 307, "/never", 410, "/down", 503);

    private static final String CALLER = "4bf92f3577b34da6a3ce929d0e0e4736";

    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final SdkTracerProvider provider = SdkTracerProvider.builder()
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build();

    /** The trace that each path of the receiver was called with. */
    private final Map<String, String> received = new ConcurrentHashMap<>();

    private HttpServer receiver;
    private TestServer server;

    @BeforeEach
    void start() throws IOException {
        GlobalOpenTelemetry.resetForTest();
        GlobalOpenTelemetry.set(
                OpenTelemetrySdk.builder().setTracerProvider(provider).build());
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            received.put(path, String.valueOf(exchange.getRequestHeaders().getFirst("traceparent")));
            if (path.equals("/moved")) {
                exchange.getResponseHeaders().set("Location", "/here");
            }
            exchange.sendResponseHeaders(STATUS.getOrDefault(path, 200), -1);
            exchange.close();
        });
        receiver.start();
        server = new TestServer();
    }

    @AfterEach
    void stop() {
        server.close();
        receiver.stop(0);
        provider.close();
        GlobalOpenTelemetry.resetForTest();
    }

    private String url(String path) {
        return "http://127.0.0.1:" + receiver.getAddress().getPort() + path;
    }

    private void enqueue(String json) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.server.url() + "/v1/jobs"))
                .header("Authorization", "Bearer " + server.admin)
                .header("Content-Type", "application/json")
                .header("traceparent", "00-" + CALLER + "-00f067aa0ba902b7-01")
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .build();
        assertThat(server.client()
                        .send(request, HttpResponse.BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(202);
    }

    private List<SpanData> spans(SpanKind kind) {
        return exporter.getFinishedSpanItems().stream()
                .filter(span -> span.getKind() == kind)
                .toList();
    }

    private SpanData run(String type) {
        return TestServer.await(() -> spans(SpanKind.CONSUMER).stream()
                .filter(span -> span.getAttributes().asMap().containsValue(type))
                .findFirst()
                .orElse(null));
    }

    private static String parent(SpanData span) {
        return "00-" + span.getTraceId() + "-" + span.getSpanId() + "-01";
    }

    @Test
    void the_trace_of_a_request_goes_on_and_each_call_of_an_attempt_is_its_child() throws Exception {
        enqueue("{\"type\":\"http\",\"payload\":{\"url\":\"" + url("/moved") + "\",\"followRedirects\":true}}");
        SpanData run = run("http");
        SpanData sent = spans(SpanKind.PRODUCER).get(0);
        assertThat(sent.getTraceId()).isEqualTo(CALLER);
        assertThat(sent.getParentSpanId()).isEqualTo("00f067aa0ba902b7");
        assertThat(run.getTraceId()).isNotEqualTo(CALLER);
        assertThat(run.getLinks()).hasSize(1);
        assertThat(run.getLinks().get(0).getSpanContext().getSpanId()).isEqualTo(sent.getSpanId());
        List<SpanData> calls = spans(SpanKind.CLIENT);
        assertThat(calls).hasSize(2).allSatisfy(call -> {
            assertThat(call.getTraceId()).isEqualTo(run.getTraceId());
            assertThat(call.getParentSpanId()).isEqualTo(run.getSpanId());
        });
        assertThat(received).containsEntry("/moved", parent(calls.get(0))).containsEntry("/here", parent(calls.get(1)));
    }

    @Test
    void a_delivery_that_is_tried_again_links_to_the_attempt_before() throws Exception {
        String policy = "{\"backoff\":\"fixed\",\"base\":\"1ms\",\"jitter\":\"none\",\"maxAttempts\":2}";
        enqueue("{\"type\":\"http\",\"policy\":" + policy + ",\"payload\":{\"url\":\"" + url("/down") + "\"}}");
        List<SpanData> runs = TestServer.await(
                () -> spans(SpanKind.CONSUMER).size() < 2 ? null : List.copyOf(spans(SpanKind.CONSUMER)));
        assertThat(runs.get(1).getLinks())
                .extracting(link -> link.getSpanContext().getSpanId())
                .containsExactlyInAnyOrder(
                        spans(SpanKind.PRODUCER).get(0).getSpanId(), runs.get(0).getSpanId());
    }

    @Test
    void a_webhook_is_sent_in_the_trace_of_its_delivery() throws Exception {
        assertThat(server.post("/v1/webhooks", "{\"url\":\"" + url("/hook") + "\",\"events\":[\"failed\"]}")
                        .status())
                .isEqualTo(201);
        enqueue("{\"type\":\"http\",\"payload\":{\"url\":\"" + url("/never") + "\"}}");
        SpanData delivery = run("webhook");
        SpanData call = spans(SpanKind.CLIENT).stream()
                .filter(span -> span.getParentSpanId().equals(delivery.getSpanId()))
                .findFirst()
                .orElseThrow();
        assertThat(received).containsEntry("/hook", parent(call));
        SpanData failed = run("http");
        assertThat(failed.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    }
}
