// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.reprise.retry.Presets;
import io.reprise.retry.RetryPolicy;
import io.reprise.settings.Ceilings;
import io.reprise.settings.FleetSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How retries are set for a server without Java. */
class FleetFlagsTest {

    @TempDir
    Path directory;

    private static FleetSettings read(Map<String, String> environment) {
        return FleetFlags.of(Settings.read(null, environment, Map.of()));
    }

    @Test
    void the_five_variables_of_conduit_have_equals() {
        FleetSettings settings = read(Map.of(
                "REPRISE_RETRY_POLICY", "conduit",
                "REPRISE_RETRY_MAX_RETRIES", "5",
                "REPRISE_RETRY_BASE_DELAY", "60s",
                "REPRISE_RETRY_MAX_DELAY", "1800s",
                "REPRISE_RETRY_ENABLED", "true",
                "REPRISE_RETRY_CHECK_INTERVAL", "30s"));
        RetryPolicy wanted = Presets.get("conduit")
                .maxRetries(5)
                .base(Duration.ofSeconds(60))
                .cap(Duration.ofSeconds(1_800));
        assertThat(settings.defaults().policy()).isEqualTo(wanted);
        assertThat(settings.defaults().retries()).isTrue();
        assertThat(settings.defaults().poll()).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void without_them_nothing_is_set() {
        assertThat(read(Map.of())).isEqualTo(FleetSettings.NONE);
    }

    @Test
    void alert_rules_are_set() {
        FleetSettings settings = read(Map.of(
                "REPRISE_ALERT_RETRY_PERCENT", "25",
                "REPRISE_ALERT_RETRY_COUNT", "50",
                "REPRISE_ALERT_DEAD_LETTERS", "3",
                "REPRISE_ALERT_BACKOFF", "1h",
                "REPRISE_ALERT_WINDOW", "5"));
        assertThat(settings.defaults().alerts().retryRate()).isEqualTo(0.25);
        assertThat(settings.defaults().alerts().retryCount()).isEqualTo(50);
        assertThat(settings.defaults().alerts().deadLetters()).isEqualTo(3);
        assertThat(settings.defaults().alerts().backoff()).isEqualTo(Duration.ofHours(1));
        assertThat(settings.defaults().alerts().windowMinutes()).isEqualTo(5);
    }

    @Test
    void ceilings_are_set() {
        FleetSettings settings = read(Map.of(
                "REPRISE_CEILING_ATTEMPTS", "25",
                "REPRISE_CEILING_DEADLINE", "7d",
                "REPRISE_CEILING_PAYLOAD", "1000",
                "REPRISE_CEILING_DEPTH", "50"));
        assertThat(settings.defaults().ceilings()).isEqualTo(new Ceilings(25, Duration.ofDays(7), 1_000, 50));
        assertThat(read(Map.of()).defaults().ceilings()).isEqualTo(Ceilings.NONE);
    }

    @Test
    void a_variable_comes_before_the_file_of_settings() throws IOException {
        Path file = Files.writeString(
                directory.resolve("fleet.json"),
                "{\"defaults\":{\"policy\":{\"maxAttempts\":9,\"deadline\":\"2h\"}},"
                        + "\"types\":{\"bill\":{\"policy\":{\"maxAttempts\":2}}}}");
        FleetSettings settings =
                read(Map.of("REPRISE_SETTINGS_FILE", file.toString(), "REPRISE_RETRY_MAX_RETRIES", "3"));
        assertThat(settings.defaults().policy().maxAttempts().toOptional()).contains(4);
        assertThat(settings.defaults().policy().deadline().toOptional()).contains(Duration.ofHours(2));
        assertThat(settings.types().get("bill").policy().maxAttempts().toOptional())
                .contains(2);
    }
}
