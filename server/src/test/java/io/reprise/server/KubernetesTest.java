// SPDX-License-Identifier: Apache-2.0
package io.reprise.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import io.kubernetes.client.openapi.JSON;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Service;
import io.reprise.server.config.Durations;
import io.reprise.server.config.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The manifests against Kubernetes' published API, against each other and against the program's settings. */
class KubernetesTest {

    private static final Path MANIFESTS = Path.of("..", "packaging", "kubernetes", "reprise.yaml");
    private static final YAMLMapper YAML = new YAMLMapper();

    private static List<JsonNode> read(String text) throws IOException {
        return YAML.readerFor(JsonNode.class).<JsonNode>readValues(text).readAll();
    }

    private static List<JsonNode> manifests() throws IOException {
        return read(Files.readString(MANIFESTS));
    }

    private static JsonNode manifest(String kind) throws IOException {
        return manifests().stream()
                .filter(each -> each.get("kind").stringValue().equals(kind))
                .findFirst()
                .orElseThrow();
    }

    /** Refuses fields that Kubernetes does not have, missing ones, and values of another type, as its published API says. */
    private static void check(JsonNode manifest) throws IOException {
        JsonElement element = JsonParser.parseString(manifest.toString());
        String kind = manifest.get("apiVersion").stringValue() + " "
                + manifest.get("kind").stringValue();
        Class<?> type = switch (kind) {
            case "apps/v1 Deployment" -> {
                V1Deployment.validateJsonElement(element);
                yield V1Deployment.class;
            }
            case "policy/v1 PodDisruptionBudget" -> {
                V1PodDisruptionBudget.validateJsonElement(element);
                yield V1PodDisruptionBudget.class;
            }
            case "v1 Service" -> {
                V1Service.validateJsonElement(element);
                yield V1Service.class;
            }
            default -> throw new IllegalArgumentException(kind);
        };
        Object read = JSON.getGson().fromJson(element, type);
        assertThat(read).isNotNull();
    }

    @Test
    void every_manifest_fits_the_published_api() throws IOException {
        assertThat(manifests())
                .extracting(each -> each.get("kind").stringValue())
                .containsExactly("Deployment", "PodDisruptionBudget", "Service");
        for (JsonNode manifest : manifests()) {
            check(manifest);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "replicas: 2, replica: 2",
        "replicas: 2, replicas: two",
        "apiVersion: apps/v1, apiVersion: extensions/v1beta1",
        "containerPort: 8080, containerPort: http",
        "'containerPort: 8080', 'protocol: TCP'",
        "path: /healthz, url: /healthz",
        "memory: 1Gi, memory: 1 GB",
        "runAsUser: 10001, runAsUser: somebody",
        "secretName: reprise, name: reprise",
        "maxUnavailable: 0, maxUnavailable: [0]",
        "minAvailable: 1, minAvailable: {pods: 1}",
        "targetPort: http, targetPorts: http",
    })
    void what_does_not_fit_is_found(String right, String wrong) throws IOException {
        String text = Files.readString(MANIFESTS);
        assertThat(text).contains(right);
        List<JsonNode> changed = read(text.replace(right, wrong));
        assertThatThrownBy(() -> {
                    for (JsonNode manifest : changed) {
                        check(manifest);
                    }
                })
                .isInstanceOf(RuntimeException.class);
    }

    @Test
    void selectors_and_ports_lead_to_the_pods() throws IOException {
        JsonNode labels = manifest("Deployment").at("/spec/template/metadata/labels");
        assertThat(manifest("Deployment").at("/spec/selector/matchLabels")).isEqualTo(labels);
        assertThat(manifest("PodDisruptionBudget").at("/spec/selector/matchLabels"))
                .isEqualTo(labels);
        assertThat(manifest("Service").at("/spec/selector")).isEqualTo(labels);
        JsonNode container = container();
        String port = container.at("/ports/0/name").stringValue();
        assertThat(manifest("Service").at("/spec/ports/0/targetPort").stringValue())
                .isEqualTo(port);
        for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
            assertThat(container.at("/" + probe + "/httpGet/port").stringValue())
                    .isEqualTo(port);
        }
        assertThat(names(container.get("volumeMounts")))
                .containsExactlyInAnyOrderElementsOf(
                        names(manifest("Deployment").at("/spec/template/spec/volumes")));
    }

    @Test
    void every_variable_is_a_setting_that_takes_the_value() throws IOException {
        for (JsonNode variable : container().get("env")) {
            String name = variable.get("name").stringValue();
            assertThat(Arrays.stream(Setting.values())
                            .flatMap(setting -> Stream.of(setting.variable(), setting.variable() + "_FILE")))
                    .contains(name);
        }
    }

    @Test
    void a_pod_has_time_to_end_in_order() throws IOException {
        long grace = manifest("Deployment")
                .at("/spec/template/spec/terminationGracePeriodSeconds")
                .longValue();
        Duration drain = Durations.parse(value("REPRISE_HTTP_DRAIN"));
        Duration stop = Durations.parse(value("REPRISE_WORKER_STOP_GRACE"));
        assertThat(Duration.ofSeconds(grace)).isGreaterThan(drain.plus(stop).plusSeconds(30));
    }

    private static String value(String variable) throws IOException {
        return container()
                .get("env")
                .valueStream()
                .filter(each -> each.get("name").stringValue().equals(variable))
                .map(each -> each.get("value").stringValue())
                .findFirst()
                .orElseThrow();
    }

    private static JsonNode container() throws IOException {
        return manifest("Deployment").at("/spec/template/spec/containers/0");
    }

    private static List<String> names(JsonNode list) {
        return list.valueStream().map(each -> each.get("name").stringValue()).toList();
    }
}
