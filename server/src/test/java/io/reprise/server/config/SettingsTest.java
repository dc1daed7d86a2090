// SPDX-License-Identifier: Apache-2.0
package io.reprise.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {

    @TempDir
    Path directory;

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("reprise.properties"), text);
    }

    @Test
    void every_setting_has_one_name_in_three_forms() {
        assertThat(Setting.HTTP_MAX_BODY.key()).isEqualTo("http.max-body");
        assertThat(Setting.HTTP_MAX_BODY.variable()).isEqualTo("REPRISE_HTTP_MAX_BODY");
        assertThat(Setting.HTTP_MAX_BODY.flag()).isEqualTo("--http-max-body");
    }

    @Test
    void a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default() throws IOException {
        Path file = file("http.port=1\nhttp.host=file\nworker.lease=5s\n");
        Settings settings = Settings.read(
                file,
                Map.of("REPRISE_HTTP_PORT", "2", "REPRISE_HTTP_HOST", "environment", "PATH", "/bin"),
                Map.of(Setting.HTTP_PORT, "3"));
        assertThat(settings.number(Setting.HTTP_PORT)).isEqualTo(3);
        assertThat(settings.text(Setting.HTTP_HOST)).isEqualTo("environment");
        assertThat(settings.duration(Setting.WORKER_LEASE)).isEqualTo(Duration.ofSeconds(5));
        assertThat(settings.text(Setting.STORE_URL)).isEqualTo("sqlite:reprise.db");
        assertThat(settings.durationOrNull(Setting.KEEP_FAILED)).isNull();
    }

    @Test
    void everything_that_is_wrong_is_named_at_once() throws IOException {
        Path file = file("http.port=none\nhttp.colour=red\n");
        assertThatThrownBy(() -> Settings.read(
                        file,
                        Map.of("REPRISE_WORKER_LEASE", "soon", "REPRISE_NONSENSE", "1"),
                        Map.of(Setting.TLS_KEY_STORE, "x.p12", Setting.HTTP_HOST, " ")))
                .isInstanceOf(Settings.InvalidSettings.class)
                .hasMessageContaining("http.port")
                .hasMessageContaining("http.colour")
                .hasMessageContaining("worker.lease")
                .hasMessageContaining("tls.password")
                .hasMessageContaining("http.host")
                .hasMessageStartingWith("5 settings are wrong");
        assertThatThrownBy(() -> Settings.read(directory.resolve("none"), Map.of(), Map.of()))
                .hasMessageContaining("cannot read");
    }

    @Test
    void what_the_start_script_and_the_tests_read_is_no_mistake() {
        Settings settings = Settings.read(
                null, Map.of("REPRISE_JAVA_OPTS", "-Xmx1g", "REPRISE_TEST_MONGODB_URI", "mongodb://a"), Map.of());
        assertThat(settings.isGiven(Setting.HTTP_PORT)).isFalse();
    }

    @Test
    void secrets_are_not_printed() {
        String printed = Settings.read(
                        null,
                        Map.of(),
                        Map.of(
                                Setting.STORE_URL, "postgresql://ada:pa55@db/jobs?password=pa55&ssl=true",
                                Setting.TLS_KEY_STORE, "k.p12",
                                Setting.TLS_PASSWORD, "pa55"))
                .print();
        assertThat(printed).doesNotContain("pa55").contains("ada:********@db/jobs", "ssl=true", "# command line");
    }

    @Test
    void what_kubernetes_sets_beside_a_service_of_this_name_is_passed_over() {
        Settings settings = Settings.read(
                null,
                Map.of(
                        "REPRISE_SERVICE_HOST", "10.0.0.1",
                        "REPRISE_SERVICE_PORT", "8080",
                        "REPRISE_SERVICE_PORT_HTTP", "8080",
                        "REPRISE_PORT", "tcp://10.0.0.1:8080",
                        "REPRISE_PORT_8080_TCP_ADDR", "10.0.0.1",
                        "REPRISE_HTTP_SERVICE_HOST", "10.0.0.1",
                        "REPRISE_HTTP_PORT", "tcp://10.0.0.1:8080"),
                Map.of());
        assertThat(settings.number(Setting.HTTP_PORT)).isEqualTo(8080);
        assertThat(settings.warnings()).isEmpty();
    }

    @Test
    void a_variable_that_is_no_setting_is_warned_of() {
        Settings settings = Settings.read(null, Map.of("REPRISE_NONSENSE", "1"), Map.of());
        assertThat(settings.warnings()).singleElement().asString().contains("REPRISE_NONSENSE");
    }

    @Test
    void a_secret_may_be_in_a_file() throws IOException {
        Path secret = Files.writeString(directory.resolve("secret"), "pa55\n");
        Settings settings = Settings.read(
                null,
                Map.of("REPRISE_TLS_PASSWORD_FILE", secret.toString(), "REPRISE_TLS_KEY_STORE", "k.p12"),
                Map.of());
        assertThat(settings.text(Setting.TLS_PASSWORD)).isEqualTo("pa55");
        assertThatThrownBy(() -> Settings.read(null, Map.of("REPRISE_SERVER_KEY_FILE", "/no/file"), Map.of()))
                .hasMessageContaining("REPRISE_SERVER_KEY_FILE");
    }

    @Test
    void a_secret_on_the_command_line_is_warned_of() {
        assertThat(Settings.read(null, Map.of(), Map.of(Setting.SERVER_KEY, "reprise_x"))
                        .warnings())
                .singleElement()
                .asString()
                .contains("--server-key", "REPRISE_SERVER_KEY_FILE");
        assertThat(Settings.read(null, Map.of(), Map.of(Setting.STORE_URL, "postgresql://a:p@ss@db/x"))
                        .warnings())
                .hasSize(1);
    }

    @Test
    void a_password_with_an_at_sign_is_masked_to_its_end() {
        assertThat(Settings.read(null, Map.of(), Map.of(Setting.STORE_URL, "postgresql://ada:pa@55@db/jobs"))
                        .print())
                .doesNotContain("55")
                .contains("ada:********@db/jobs");
    }
}
