// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The recipe of the autoscaler asks for what a server shows. */
class AutoscaleTest {

    private static final Path RECIPE = Path.of("..", "packaging", "kubernetes", "autoscale.yaml");
    private static final Pattern QUERY = Pattern.compile("max\\((\\w+)\\{queue=\"mail\"}\\)");

    @Test
    void the_recipe_asks_for_a_metric_that_the_server_shows() throws IOException {
        JsonNode recipe = new YAMLMapper().readTree(Files.readString(RECIPE));
        JsonNode trigger = recipe.at("/spec/triggers/0");
        assertThat(trigger.get("metricType").stringValue()).isEqualTo("AverageValue");
        Matcher query = QUERY.matcher(trigger.at("/metadata/query").stringValue());
        assertThat(query.matches()).isTrue();
        try (TestServer server = new TestServer()) {
            server.enqueue("{\"type\":\"send\",\"queue\":\"mail\"}");
            Pattern shown = Pattern.compile("^" + query.group(1) + "\\{queue=\"mail\"} (\\S+)$", Pattern.MULTILINE);
            double wanted = TestServer.await(() -> {
                Matcher line = shown.matcher(server.get("/metrics").raw().body());
                return line.find() ? Double.valueOf(line.group(1)) : null;
            });
            assertThat(wanted).as("a job waits and nobody runs one").isGreaterThanOrEqualTo(1);
        }
    }

    /** KEDA publishes no classes that could check it, so these are the fields of its ScaledObject by hand. */
    @Test
    void the_recipe_has_fields_of_a_scaled_object_only() throws IOException {
        JsonNode recipe = new YAMLMapper().readTree(Files.readString(RECIPE));
        assertThat(recipe.get("apiVersion").stringValue()).isEqualTo("keda.sh/v1alpha1");
        assertThat(recipe.get("kind").stringValue()).isEqualTo("ScaledObject");
        JsonNode spec = recipe.get("spec");
        assertThat(spec.propertyNames())
                .contains("scaleTargetRef", "triggers")
                .isSubsetOf(
                        "scaleTargetRef",
                        "minReplicaCount",
                        "maxReplicaCount",
                        "pollingInterval",
                        "cooldownPeriod",
                        "triggers");
        assertThat(spec.at("/scaleTargetRef/name").isString()).isTrue();
        JsonNode trigger = spec.at("/triggers/0");
        assertThat(trigger.propertyNames()).contains("type", "metadata").isSubsetOf("type", "metricType", "metadata");
        assertThat(trigger.get("metadata").valueStream()).allMatch(JsonNode::isString);
    }
}
