// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.reprise.failure.Failure;
import io.reprise.failure.FailureClass;
import io.reprise.insight.Alert;
import io.reprise.insight.ControlEvent;
import io.reprise.insight.GroupBacklog;
import io.reprise.insight.JobEvent;
import io.reprise.insight.RetryView;
import io.reprise.insight.StartLevel;
import io.reprise.job.JobId;
import io.reprise.micrometer.JobMetrics;
import io.reprise.retry.Decision;
import io.reprise.retry.FailReason;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Every metric and label that the dashboards and the alert rules name is one that a server shows at {@code /metrics}.
 * Counters of rare events come from the same listener that the server has.
 */
class DashboardsTest {

    private static final Path FOLDER = Path.of("../dashboards");

    /** A metric with its matchers, if it has some. */
    private static final Pattern METRIC =
            Pattern.compile("\\b((?:reprise|retries|retry)_[a-z_]+|retries_total)(?:\\{([^}]*)\\})?");

    private static final Pattern LABEL = Pattern.compile("([a-z]+)=~?\"");
    private static final Pattern BY = Pattern.compile("by \\(([^)]*)\\) *\\(");
    private static final Pattern SERIES = Pattern.compile("(?m)^([a-z_]+)(?:\\{([^}]*)\\})? ");

    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    /** Labels of each metric in the text that Prometheus reads. */
    private static Map<String, Set<String>> shown(String... texts) {
        Map<String, Set<String>> metrics = new HashMap<>();
        for (String text : texts) {
            Matcher series = SERIES.matcher(text);
            while (series.find()) {
                Set<String> labels = metrics.computeIfAbsent(series.group(1), name -> new HashSet<>());
                if (series.group(2) != null) {
                    LABEL.matcher(series.group(2)).results().forEach(label -> labels.add(label.group(1)));
                }
            }
        }
        return metrics;
    }

    private static List<String> expressions() throws IOException {
        JsonMapper json = new JsonMapper();
        try (Stream<Path> boards = Files.list(FOLDER.resolve("grafana"))) {
            List<String> all = new ArrayList<>();
            for (Path board : boards.sorted().toList()) {
                JsonNode root = json.readTree(board);
                assertThat(root.has("id"))
                        .as("%s has no id of one Grafana", board)
                        .isFalse();
                assertThat(root.get("uid").asString()).startsWith("reprise-");
                root.get("panels")
                        .forEach(panel -> panel.get("targets")
                                .forEach(target -> all.add(target.get("expr").asString())));
                root.at("/templating/list").forEach(variable -> {
                    if (variable.get("query").asString().startsWith("label_values")) {
                        all.add(variable.get("query").asString());
                    }
                });
            }
            Files.readAllLines(FOLDER.resolve("prometheus/reprise-rules.yml")).stream()
                    .map(String::strip)
                    .filter(line -> line.startsWith("expr: "))
                    .forEach(all::add);
            return all;
        }
    }

    private String metricsOfServer() {
        server.enqueue("{\"type\":\"call\",\"resource\":\"api\"}");
        server.post("/v1/resources/api/force-open", "{\"why\":\"a test\"}");
        return server.get("/metrics").raw().body();
    }

    /** Meters of events that a test server would need an outage for, and of queues with groups and a service level. */
    private static String metricsOfEvents() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        JobMetrics metrics = new JobMetrics(registry)
                .groups(() -> List.of(new GroupBacklog("default", "a", 1)))
                .starts(() -> List.of(new StartLevel("default", null, 1, 0)));
        Failure failure = Failure.of(FailureClass.TRANSIENT, "Busy", "busy");
        Decision retry = new Decision.Retry(Duration.ofSeconds(1), Duration.ofSeconds(1), FailureClass.TRANSIENT, "r");
        Decision fail = new Decision.Fail(FailReason.EXHAUSTED, FailureClass.TRANSIENT, "r", true);
        for (JobEvent.Kind kind : JobEvent.Kind.values()) {
            Decision decision = switch (kind) {
                case RETRY_SCHEDULED -> retry;
                case FAILED -> fail;
                default -> null;
            };
            metrics.onEvent(new JobEvent(
                    kind,
                    new JobId(1),
                    "call",
                    "default",
                    "api",
                    1,
                    Instant.EPOCH,
                    Instant.EPOCH,
                    Instant.EPOCH,
                    Duration.ofSeconds(1),
                    Instant.EPOCH,
                    decision == null ? null : failure,
                    decision,
                    new RetryView(0, 3, true, null),
                    null));
        }
        metrics.onAlert(new Alert(Alert.Kind.RETRY_RATE, "call", 1, 0.5, Instant.EPOCH, null));
        metrics.onControl(new ControlEvent(ControlEvent.Kind.BREAKER_OPENED, "api", Instant.EPOCH, "a test"));
        metrics.onFollowUpFailure(JobEvent.Kind.SUCCEEDED, new JobId(1), new IllegalStateException("a test"));
        return registry.scrape();
    }

    @Test
    void every_metric_and_label_is_there() throws IOException {
        Map<String, Set<String>> shown = shown(metricsOfServer(), metricsOfEvents());
        Set<String> missing = new TreeSet<>();
        List<String> expressions = expressions();
        assertThat(expressions).hasSizeGreaterThan(25);
        for (String expression : expressions) {
            check(expression, shown, missing);
        }
        assertThat(missing).isEmpty();
    }

    private static void check(String expression, Map<String, Set<String>> shown, Set<String> missing) {
        Set<String> labels = new TreeSet<>();
        BY.matcher(expression)
                .results()
                .forEach(by -> labels.addAll(List.of(by.group(1).split(", *", -1))));
        labels.removeAll(Set.of("le", "instance"));
        Matcher metric = METRIC.matcher(expression);
        boolean any = false;
        while (metric.find()) {
            any = true;
            Set<String> known = shown.get(metric.group(1));
            if (known == null) {
                missing.add(metric.group(1));
                continue;
            }
            Set<String> asked = new TreeSet<>(labels);
            if (metric.group(2) != null) {
                LABEL.matcher(metric.group(2)).results().forEach(label -> asked.add(label.group(1)));
            }
            asked.stream()
                    .filter(label -> !known.contains(label))
                    .forEach(label -> missing.add(metric.group(1) + " has no label " + label));
        }
        assertThat(any).as(expression).isTrue();
    }

    @Test
    void each_alert_names_a_part_of_a_page_that_exists() throws IOException {
        List<String> rules = Files.readAllLines(FOLDER.resolve("prometheus/reprise-rules.yml"));
        long alerts = rules.stream().filter(line -> line.contains("- alert:")).count();
        List<String> pages = rules.stream()
                .map(String::strip)
                .filter(line -> line.startsWith("runbook_url: "))
                .map(line -> line.substring("runbook_url: ".length()))
                .toList();
        assertThat(pages).hasSize((int) alerts).allSatisfy(page -> {
            assertThat(page).contains("#");
            int at = page.indexOf('#');
            assertThat(Files.readAllLines(Path.of("..", page.substring(0, at))))
                    .filteredOn(line -> line.startsWith("#"))
                    .extracting(line -> line.replaceFirst("^#+ ", "")
                            .toLowerCase(Locale.ROOT)
                            .replace(' ', '-'))
                    .contains(page.substring(at + 1));
        });
    }

    @Test
    void prometheus_itself_accepts_the_rules() throws Exception {
        Path program = Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(folder -> Path.of(folder, "promtool"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseGet(() -> abort("NO PROMTOOL: put the one of Prometheus on the path"));
        Process process = new ProcessBuilder(
                        program.toString(),
                        "check",
                        "rules",
                        FOLDER.resolve("prometheus/reprise-rules.yml").toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }
}
